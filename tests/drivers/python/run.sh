#!/bin/sh
# Runs every case through the Python package, each way: run.sh TARGET PYTHON
set -eu
target=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here"
status=0
run() {
  way=$1
  shift
  # The status of a pipe would be that of grep, which always finds the summary.
  said=$("$target/debug/run-cases" --name "python $way" --jobs 6 "$@" -- \
    "$python" -m case_driver "$way") || status=1
  printf '%s\n' "$said" | grep -v '^ok ' || status=1
}
run asyncio
run asyncio --neighbour mixed
run trio
run sync \
  --exclude 'C104:a callback that runs in the reading thread cannot be cancelled' \
  --exclude 'C105,C118,C142:callbacks of one thread run one after another' \
  --exclude 'C131,C153:a call of a thread cannot be given up' \
  --exclude 'C147:a tool that runs in the closing thread is waited for'
exit $status
