#!/usr/bin/env bash
# Runs every case through the Python package, each way: run.sh TARGET PYTHON. TOWLINE_NEIGHBOURS=all (or
# names of neighbours) runs their neighbours instead.
set -euo pipefail
target=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here"
status=0
run() {
  way=$1 name=$2
  shift 2
  # grep always finds the summary: a failure is the program's.
  "$target/debug/run-cases" --name "python $way$name" --jobs 6 "$@" -- \
    "$python" -m case_driver "$way" | grep --line-buffered -v '^ok ' || status=1
}
# What the callbacks of one thread cannot do.
in_one_thread='C104:a callback that runs in the reading thread cannot be cancelled
C105,C118,C142:callbacks of one thread run one after another
C147:a tool that runs in the reading thread is waited for'
# The cases: cases WAY [OPTION]...
cases() {
  way=$1
  shift
  if [ "$way" = sync ]; then
    while read -r excluded; do
      set -- "$@" --exclude "$excluded"
    done <<EOF
$in_one_thread
EOF
  fi
  run "$way" '' "$@"
}
# What a CLI sends at every moment: moments WAY [OPTION]...
moments() {
  way=$1
  shift
  if [ "$way" = sync ]; then
    for moment in before-handshake in-handshake between-turns in-turn in-callback ending; do
      set -- "$@" --exclude \
        "$moment-withdrawn:a callback that runs in the reading thread cannot be cancelled"
    done
    for moment in before-handshake in-handshake between-turns; do
      of_no_turn=
      for thing in assistant user stream_event system-status system-new rate_limit_event; do
        of_no_turn="$of_no_turn,$moment-$thing"
      done
      set -- "$@" --exclude "${of_no_turn#,}:messages of no turn are read by themselves"
    done
  fi
  run "$way" ', moments' --moments official "$@"
}
case ${TOWLINE_NEIGHBOURS:-} in
'')
  cases asyncio
  cases asyncio --neighbour mixed
  cases trio
  cases trio --neighbour mixed --slice 1/3
  cases sync
  cases sync --neighbour mixed --slice 2/3
  moments asyncio --slice 1/12
  moments trio --slice 5/12
  moments sync --slice 9/12
  ;;
*)
  for way in asyncio trio sync; do
    cases "$way" --neighbour "$TOWLINE_NEIGHBOURS"
    if [ "$TOWLINE_NEIGHBOURS" = all ]; then
      moments "$way"
    fi
  done
  ;;
esac
exit $status
