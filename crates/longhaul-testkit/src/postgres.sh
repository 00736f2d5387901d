# Run this as a user other than root, with the folder of PostgreSQL's programs in $PROGRAMS. It prints the folder with the
# server's socket, restarts or stops the server as each input line says, and ends at the end of its input.
set -eu
folder=$(mktemp -d /tmp/longhaul-postgres.XXXXXX)
trap 'rm -rf "$folder"' EXIT
log="$folder/log"
said() {
    "$@" >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}
said "$PROGRAMS/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --no-locale --no-sync
settings="-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off -c max_connections=200 -c shared_buffers=16MB"
said "$PROGRAMS/pg_ctl" -D "$folder/data" -w -t 120 -l "$log.server" -o "$settings" start
echo "$folder"
while read -r order; do
    said "$PROGRAMS/pg_ctl" -D "$folder/data" -w -t 120 -l "$log.server" -m immediate "$order"
    echo "$order"
done
"$PROGRAMS/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
