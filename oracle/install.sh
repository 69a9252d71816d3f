#!/bin/sh
# install.sh AGENT: install the pinned published packages of one agent's oracle, once, outside the
# repository. Prints the folder to run in. Exit 75: it cannot be installed here; the caller decides.
set -eu

agent=${1:?usage: install.sh AGENT}
folder=$agent
[ "$agent" != claude-code ] || folder=claude
cache=$agent
# Others keep this client under its plain name, laid out in another way.
[ "$agent" != grok ] || cache=grok-client
from=$(cd "$(dirname "$0")" && pwd)/$folder
into=${SESSFIX_ORACLES:-${TMPDIR:-/tmp}/sessfix-oracle-cache}/$cache
[ -f "$from/package-lock.json" ] || { echo "install.sh: no oracle for '$agent'" >&2; exit 2; }

sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

is_24() {
  case $("$into/node_modules/.bin/node" --version 2>/dev/null || true) in v24.*) true ;; *) false ;; esac
}

# Is the program there that runs the check, or that is asked?
is_ready() {
  case $agent in
  claude-code) ls "$into"/node_modules/@anthropic-ai/claude-code-*/claude* >/dev/null 2>&1 ;;
  codex) ls "$into"/node_modules/@openai/codex-*/vendor/*/bin/codex* >/dev/null 2>&1 ;;
  grok) [ -x "$into/node_modules/.grok/grok" ] ;;
  openclaw) [ -f "$into/node_modules/openclaw/openclaw.mjs" ] ;;
  pi) is_24 && [ -f "$into/node_modules/pi-legacy/dist/cli.js" ] ;;
  *) is_24 ;;
  esac
}

# The scripts may have changed, the packages only when the lock file did.
mkdir -p "$into"
rm -rf "$into/lib" "$into"/*.mjs
(cd "$from" && tar -cf - --exclude=node_modules .) | (cd "$into" && tar -xf -)
[ "$agent" != grok ] || cp "$from/../pi/lib/begin.mjs" "$from/../pi/lib/each.mjs" "$from/../pi/lib/processes.mjs" "$from/../pi/lib/commands.mjs" "$into/lib/"
[ "$agent" != pi/harness ] || cp "$from/../lib/each.mjs" "$from/../lib/processes.mjs" "$from/../lib/lists.mjs" "$into/lib/"

want=$(sum <"$from/package-lock.json" | cut -d' ' -f1)
stamp=$into/node_modules/.sessfix-stamp
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ] || ! is_ready; then
  echo "$agent: installing the client's packages (once)" >&2
  command -v npm >/dev/null || { echo "install.sh: npm is not there" >&2; exit 75; }
  get=ci
  # The install script of grok would write into the user's home, and its lock file knows the package of one platform only.
  [ "$agent" != grok ] || get='install --no-save --ignore-scripts'
  (cd "$into" && npm $get --no-audit --no-fund) >&2 || exit 75
  # The package of Node fetches its binary in an install script, which npm may have skipped.
  is_ready || [ "$agent" != dsh ] || (cd "$into" && npm rebuild node) >&2 || exit 75
  case $agent in
  grok) node "$into/lib/unpack.mjs" >&2 || exit 75 ;;
  pi | pi/harness) is_ready || (cd "$into" && npm rebuild node --ignore-scripts=false) >&2 || exit 75 ;;
  esac
  is_ready || { echo "install.sh: no $([ "$agent" = dsh ] && echo Node 24 || echo client) in $into" >&2; exit 75; }
  echo "$want" >"$stamp"
fi
echo "$into"
