git() (
  case "${1-}" in
    {guarded}) ;;
    *) exec git "$@" ;;
  esac
  unset {removed}
  export {variables}
  longhaul_git=$1
  shift
  case "$longhaul_git" in
{options}
  esac
  set -- "$longhaul_git" "$@"
  set -f
  IFS='
'
  for longhaul_git in $(command git {settings} config --name-only --get-regexp '^filter\.' 2>/dev/null); do
    set -- -c "$longhaul_git=" "$@"
  done
  unset IFS
  exec git --no-pager {settings} "$@"
)
