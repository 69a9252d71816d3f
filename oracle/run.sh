#!/bin/sh
# run.sh AGENT[:CHECK] BINARY [OPTIONS of the check]: install the oracle of one agent, then hold BINARY against it. CHECK is
# judge (the default: repairs), fork, upgrade or messages (exports).
set -eu

[ $# -ge 2 ] || { echo "usage: run.sh AGENT[:fork|:upgrade|:messages] BINARY [--keep DIR] [--jobs N] [--only WORD] [--every N] [--also PATH...]" >&2; exit 2; }
agent=${1%%:*}
check=judge
[ "$agent" = "$1" ] || check=${1#*:}
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
node=node
[ ! -x "$folder/node_modules/.bin/node" ] || node=$folder/node_modules/.bin/node
case $agent:$check in
dsh:judge | pi/harness:judge) set -- "$folder/check.mjs" "$binary" "$@" ;;
dsh:*) set -- "$folder/$check.mjs" "$binary" "$@" ;;
codex:*) set -- "$folder/$check.mjs" "$binary" --shared "$here/../../shared" --healthy "$here/../testdata/sessions/codex" "$@" ;;
pi:judge | pi:fork)
  # OpenClaw's doctor is asked too where it can be installed; the check says so where it cannot.
  doctor=$("$here/install.sh" openclaw) || doctor=
  set -- "$folder/$check.mjs" "$binary" --shared "$here/../../shared" ${doctor:+--doctor "$doctor"} "$@" ;;
pi/harness:*) set -- "$folder/$check.mjs" "$binary" "$@" ;;
*) set -- "$folder/$check.mjs" "$binary" --shared "$here/../../shared" "$@" ;;
esac
exec "$node" "$@"
