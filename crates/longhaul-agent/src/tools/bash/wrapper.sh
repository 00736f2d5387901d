exec 2>&1
longhaul_cwd=$2
trap 'pwd -P >"$longhaul_cwd" 2>/dev/null' EXIT
eval " $1"
