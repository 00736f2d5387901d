exec 2>&1
longhaul_cwd=$2
readonly longhaul_cwd
# Commands were judged without these: they change where `cd` leads and what wildcards become.
unset CDPATH GLOBIGNORE
if [ -n "$BASH_VERSION" ]; then
    shopt -u cdable_vars dotglob extglob globstar nocaseglob
fi
cd -P . 2>/dev/null
trap '{pwd} >"$longhaul_cwd" 2>/dev/null' EXIT
eval " $1"
