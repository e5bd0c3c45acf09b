# A PostgreSQL server of one's own, for tests and benchmarks: started in a new folder below /tmp, on
# loopback and on a Unix socket, as an unprivileged user; stopped and removed with that folder. To
# be sourced.
#
#   server_start      sets server_folder, server_port and server_password; exports PGHOST, PGPORT,
#                     PGUSER, PGDATABASE
#                     for psql, which comes in by way of the socket and needs no password; fails
#                     when there is no
#                     PostgreSQL. On loopback the password is asked for.
#   server_stop [MODE]  fast (the default), or immediate, as a crash would
#   server_remove     stops it, and removes everything
#
# shellcheck shell=bash

# Runs a command as someone whom PostgreSQL accepts: it refuses root.
server_as_user() {
    local user=postgres
    if (($(id -u) != 0)); then
        "$@"
        return
    fi
    id "$user" >/dev/null 2>&1 || user=nobody
    setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
        env -i PATH="$PATH" LC_ALL=C.UTF-8 "$@"
}

server_start() {
    local programs
    programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [[ -x $programs/initdb ]] || programs=$(dirname "$(command -v initdb)" 2>/dev/null) || return 1
    [[ -x $programs/initdb ]] || return 1
    server_programs=$programs
    server_folder=$(mktemp -d /tmp/dpmf-database.XXXXXX)
    server_password="dpmf-secret-$RANDOM$RANDOM"
    server_port=$(python3 -c \
        'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf '%s\n' "$server_password" >"$server_folder/password"
    chmod 755 "$server_folder"
    if (($(id -u) == 0)); then
        chown -R "$(server_as_user id -u)" "$server_folder"
    fi
    (
        cd "$server_folder" || exit 1
        server_as_user "$programs/initdb" -D data -U dpmf -E UTF8 --locale=C.UTF-8 --no-sync \
            --auth-local=trust --auth-host=scram-sha-256 --pwfile=password
    ) >"$server_folder.log" 2>&1 || return 1
    server_again || return 1
    export PGHOST=$server_folder PGPORT=$server_port PGUSER=dpmf PGDATABASE=postgres
}

# Starts the server that is there already.
server_again() {
    (
        cd "$server_folder" || exit 1
        server_as_user "$server_programs/pg_ctl" -D data -w -l log start -o "-c fsync=off \
            -c max_wal_size=8GB -c listen_addresses=127.0.0.1 -c port=$server_port -k \
$server_folder"
    ) >>"$server_folder.log" 2>&1
}

server_stop() {
    (
        cd "$server_folder" || exit 1
        server_as_user "$server_programs/pg_ctl" -D data -w -m "${1:-fast}" stop
    ) >>"$server_folder.log" 2>&1
}

server_remove() {
    [[ -n ${server_folder:-} ]] || return 0
    server_stop immediate || true
    rm -rf "$server_folder" "$server_folder.log"
    server_folder=""
}
