#!/bin/sh
# run.sh AGENT BINARY [OPTIONS of check.mjs or judge.mjs]: install the oracle of one agent, then hold BINARY against it.
set -eu

[ $# -ge 2 ] || { echo "usage: run.sh AGENT BINARY [--keep DIR] [--jobs N] [--only WORD] [--also PATH...]" >&2; exit 2; }
agent=$1
binary=$2
shift 2

status=0
folder=$("$(dirname "$0")/install.sh" "$agent") || status=$?
if [ "$status" -eq 75 ]; then
  echo "SKIPPED: $agent client cannot be installed"
  exit 0
fi
[ "$status" -eq 0 ] || exit "$status"
here=$(dirname "$0")
case $agent in
claude-code) exec node "$folder/judge.mjs" "$binary" --shared "$here/../../shared" "$@" ;;
codex) exec node "$folder/judge.mjs" "$binary" --shared "$here/../../shared" --healthy "$here/../testdata/sessions/codex" "$@" ;;
grok) exec node "$folder/judge.mjs" "$binary" --shared "$here/../../shared" "$@" ;;
pi)
  # OpenClaw's doctor is asked too where it can be installed; the judge says so where it cannot.
  doctor=$("$here/install.sh" openclaw) || doctor=
  exec "$folder/node_modules/.bin/node" "$folder/judge.mjs" "$binary" --shared "$here/../../shared" ${doctor:+--doctor "$doctor"} "$@" ;;
esac
exec "$folder/node_modules/.bin/node" "$folder/check.mjs" "$binary" "$@"
