"""Servers under load, instrumented: no request may fail, and they stop as they should."""

import dataclasses
import re
import subprocess

from objects import LEFT_OUT
from runner import TROUBLE, Late, Runner
from state import State

SECONDS = 14.0  # that one takes in a mode


@dataclasses.dataclass(frozen=True)
class Server:
    """Shell texts, run in a folder of the server's own. `start` leaves the server running; its load may not be instrumented,
    so what is under test stands behind `run`, as in the jobs. `load` prints what `failures` looks for."""
    name: str
    start: str
    load: str
    stop: str
    failures: str  # found in the load's output: it failed
    rate: str  # found in it: the number of requests (group 1)


WAIT = "wait_for() { for i in $(seq 200); do \"$@\" > /dev/null 2>&1 && return 0; sleep 0.1; done; echo never answered; return 1; }\n"
PAGES = "mkdir -p www; head -c 6000 /usr/bin/gzip > www/page; chmod -R a+rX . www; "

SERVERS = [
    Server("apache2", PAGES + r"""
cat > conf <<END
ServerRoot $PWD
ServerName localhost
Listen 127.0.0.1:18080
PidFile $PWD/pid
DefaultRuntimeDir $PWD
ErrorLog $PWD/error.log
User www-data
Group www-data
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
TypesConfig /etc/mime.types
DocumentRoot $PWD/www
EnableSendfile on
END
run apache2 -f $PWD/conf -k start; wait_for curl -sf http://127.0.0.1:18080/page""",
           "ab -q -k -t 5 -n 10000000 -c 20 http://127.0.0.1:18080/page", "run apache2 -f $PWD/conf -k stop; for i in $(seq 100); do [ -e pid ] || break; sleep 0.1; done; [ ! -e pid ]",
           r"Failed requests:\s+[1-9]|Non-2xx", r"Complete requests:\s+(\d+)"),
    Server("nginx", PAGES + r"""mkdir -p t; chmod 777 t; cat > conf <<END
daemon off; worker_processes 1; user www-data; pid $PWD/pid; error_log $PWD/error.log;
events { worker_connections 256; }
http { access_log off; client_body_temp_path $PWD/t/1; proxy_temp_path $PWD/t/2; fastcgi_temp_path $PWD/t/3; uwsgi_temp_path $PWD/t/4; scgi_temp_path $PWD/t/5;
gzip on; gzip_types *; server { listen 127.0.0.1:18081; root $PWD/www; } }
END
run nginx -c $PWD/conf -p $PWD & wait_for curl -sf http://127.0.0.1:18081/page""",
           "wrk -t1 -c20 -d3s http://127.0.0.1:18081/page; wrk -t1 -c20 -d2s -H 'Accept-Encoding: gzip' http://127.0.0.1:18081/page",
           "kill -QUIT $(cat pid); wait", r"Socket errors|Non-2xx", r"(\d+) requests in"),
    Server("redis", "run redis-server --port 16379 --bind 127.0.0.1 --save '' --dir $PWD --daemonize no > log & wait_for redis-cli -p 16379 ping",
           "redis-benchmark -p 16379 -n 30000 -c 20 -t set,get,lpush,lrange_100,sadd,zadd,incr,mset --csv; redis-cli -p 16379 eval 'local s = 0 for i = 1, 100000 do s = s + i end return s' 0; redis-cli -p 16379 dbsize",
           "redis-cli -p 16379 shutdown; wait", r"(?i:error)", r"(?:SET|GET)\",\"([\d.]+)"),
    Server("memcached", "chmod 777 .; rm -f pid; run memcached -u nobody -l 127.0.0.1 -p 11311 -t 4 -m 512 -P $PWD/pid & wait_for memcstat --servers=127.0.0.1:11311", "memcaslap -s 127.0.0.1:11311 -T 1 -c 16 -t 4s", "kill $(cat pid); wait",
           r"(?i:fail|error)|get_misses: [1-9]|verify_failed: [1-9]", r"Ops: (\d+)"),
    Server("postgresql", "chown postgres .; B=/usr/lib/postgresql/17/bin; as() { setpriv --reuid=postgres --regid=postgres --clear-groups \"$@\"; }; "
           "[ -d base ] || as $B/initdb -A trust -D base > /dev/null; run as $B/pg_ctl -w -t 60 -D base -o \"-p 15432 -k $PWD -h 127.0.0.1\" -l log start > /dev/null; as $B/pgbench -q -i -s 2 -h 127.0.0.1 -p 15432 postgres 2> /dev/null",
           "as $B/pgbench -c4 -j1 -T3 -S -h 127.0.0.1 -p 15432 postgres; as $B/pgbench -c4 -j1 -T3 -h 127.0.0.1 -p 15432 postgres",
           "run as $B/pg_ctl -w -m fast -D base stop > /dev/null", r"number of failed transactions: [1-9]|(?i:fatal|aborted)", r"transactions actually processed: (\d+)"),
]


def said_of(server: Server, runner: Runner, mode: str, lines: list[str], before: tuple[str, ...] = ()) -> tuple[str, str]:
    """All that its script says, and what its load does; `before` are words in front of the shell's name."""
    folder = runner.top / server.name
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    script = runner.top / "script"
    settings = " ".join(f"{name}={value}" for name, value in runner.variables(mode).items())
    script.write_text(f'run() {{ if [ "$(type -t $1)" = function ]; then (export {settings} X=; "$@"); else {settings} "$@"; fi; }}\n{WAIT}'
                      f"{server.start}\necho BEGIN\n{server.load}\necho END\n{server.stop}\necho STOPPED $?\n")
    with open(runner.top / "out", "wb") as out:
        process = runner.running = subprocess.Popen(runner.command(mode, lines, [*before, "bash", "--norc", script]), cwd=folder,
                                   env={**runner.environment(folder), "HOME": str(runner.top)}, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        runner.ended(process, 300)
    text = (runner.top / "out").read_text(errors="replace")
    return text, text.partition("BEGIN\n")[2].partition("\nEND")[0]


def once(server: Server, runner: Runner, mode: str, lines: list[str]) -> tuple[bool, str]:
    text, load = said_of(server, runner, mode, lines)
    requests = [float(number) for number in re.findall(server.rate, load)]
    good = bool(requests) and min(requests) > 0 and not re.search(server.failures, load) and "STOPPED 0" in text and "never answered" not in text
    met = re.search(f".*(?:{server.failures}).*", load)
    said = f"{' + '.join(f'{number:.0f}' for number in requests)} requests" if good else f"FAILED: {met[0] if met else ' / '.join(text.strip().splitlines()[-12:])}"
    return good, said


def tried(server: Server, runner: Runner, mode: str, lines: list[str]) -> tuple[bool, str]:
    """As once(), and again if that did not end in time."""
    for _ in range(2):
        try:
            return once(server, runner, mode, lines)
        except Late as late:
            told = f"{late}, twice"
    return False, told


def judge(server: Server, runner: Runner, state: State, modes: list[str], again: bool) -> list[str]:
    """Runs what has not passed yet; what to say about it. The plain run counts as a mode: its load changes with the machine."""
    known = state.of("servers", server.name, repr(server))
    if again:
        known["modes"] = {}
    due = [mode for mode in modes if known["modes"].get(mode, {}).get("why", "not run")]
    if not due:
        return []
    runner.listing("observed")
    fine, told = tried(server, runner, "observed", [])
    state.note(known, "plain", "" if fine else told, said=told)
    said = [f"{server.name}: plain: {told}"]
    used = [path for path in runner.paths_observed() if not LEFT_OUT.search(path)]
    for mode in due if fine else []:
        runner.trapped()
        try:
            lines, alone = runner.bound(used, mode)
            fine, told = tried(server, runner, mode, lines)
        except TROUBLE as failure:
            lines, alone, fine, told = [], [], False, str(failure)
        if not fine:
            told += runner.traps()
        state.note(known, mode, "" if fine else told, said=told, files=len(lines), alone=alone)
        said.append(f"{server.name}: {mode}: {told}; {len(lines)} files instrumented, {len(alone)} left alone")
    return said
