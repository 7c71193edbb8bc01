#!/usr/bin/env bash
# Start a model's server on this machine, run a command against it, end the server.
#
#   with_server.sh MODEL [SERVER OPTIONS] -- COMMAND...
#
# The server listens on the loopback interface alone, on a free port, and answers only those who know a key made for
# this run: other users and other jobs of the same node cannot use it, or be mistaken for it. COMMAND finds both in
# VLLM_BASE_URL and VLLM_API_KEY, where Inspect AI's models vllm/MODEL and openai-api/vllm/MODEL look for them.
#
#   SERVER_COMMAND  what serves, before the SERVER OPTIONS (default: vllm serve {model} --host 127.0.0.1 --port {port})
#   SERVER_LOG      file for what the server prints (default: standard error)
#   SERVER_WAIT     seconds until the server must answer (default: 1800; loading a large model takes minutes)
#
# The exit code is COMMAND's; 70 where the server did not start. SIGTERM is passed on to COMMAND, which has then time to
# store what it has.
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 64
}

if [ $# -lt 1 ] || [ "$1" = -- ]; then usage; fi
model=$1
shift
server_options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  server_options+=("$1")
  shift
done
[ $# -ge 2 ] || usage
shift

default='vllm serve {model} --host 127.0.0.1 --port {port}'
read -r -a server_command <<<"${SERVER_COMMAND:-$default}"
if ! command -v "${server_command[0]}" >/dev/null; then
  echo "with_server.sh: there is no ${server_command[0]} here; SERVER_COMMAND names another server" >&2
  exit 70
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
VLLM_API_KEY=$(python3 -c 'import secrets; print(secrets.token_hex(16))')
VLLM_BASE_URL="http://127.0.0.1:$port/v1"
export VLLM_API_KEY VLLM_BASE_URL # not on the command line, which every user of the node can read

server='' command='' stopped=''
# shellcheck disable=SC2317  # called by the trap
end() {
  trap '' TERM INT
  if [ -n "$command" ]; then kill -TERM "$command" 2>/dev/null || true; fi
  if [ -n "$server" ]; then
    kill -TERM -- "-$server" 2>/dev/null || true # the group: a server has workers
    for _ in $(seq 100); do
      kill -0 -- "-$server" 2>/dev/null || return 0
      sleep 0.1
    done
    kill -KILL -- "-$server" 2>/dev/null || true
  fi
}
trap end EXIT
trap 'stopped=1; if [ -n "$command" ]; then kill -TERM "$command" 2>/dev/null || true; else exit 143; fi' TERM INT

server_command=("${server_command[@]//"{model}"/"$model"}")
server_command=("${server_command[@]//"{port}"/"$port"}")
if [ -n "${SERVER_LOG:-}" ]; then exec 3>>"$SERVER_LOG"; else exec 3>&2; fi
setsid "${server_command[@]}" ${server_options[@]+"${server_options[@]}"} >&3 2>&3 &
server=$!

# /health says that the server is up, /v1/models that it is ours: another one that took the port refuses our key.
answers() {
  python3 - "$VLLM_BASE_URL" <<'PYTHON'
import os, sys, urllib.request

base, opener = sys.argv[1], urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    opener.open(base.removesuffix("/v1") + "/health", timeout=10).read()
    headers = {"Authorization": "Bearer " + os.environ["VLLM_API_KEY"]}
    opener.open(urllib.request.Request(base + "/models", headers=headers), timeout=10).read()
except OSError:
    sys.exit(1)
PYTHON
}

deadline=$((SECONDS + ${SERVER_WAIT:-1800}))
until answers; do
  if ! kill -0 "$server" 2>/dev/null; then
    echo "with_server.sh: the server ended before it answered${SERVER_LOG:+; see $SERVER_LOG}" >&2
    exit 70
  fi
  if [ "$SECONDS" -ge "$deadline" ]; then
    echo "with_server.sh: no answer from the server after ${SERVER_WAIT:-1800} s (SERVER_WAIT)" >&2
    exit 70
  fi
  sleep 1 &
  wait $! || true # unlike sleep itself, wait is interrupted by a signal
done

echo "with_server.sh: $model answers at $VLLM_BASE_URL after $SECONDS s" >&2
"$@" &
command=$!
code=0
wait "$command" || code=$?
while [ -n "$stopped" ] && kill -0 "$command" 2>/dev/null; do # a signal ended the wait, not the command
  code=0
  wait "$command" || code=$?
done
command=
exit "$code"
