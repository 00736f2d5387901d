exec 2>&1
longhaul_cwd=$2
trap 'pwd -P >"$longhaul_cwd"' EXIT
eval " $1"
