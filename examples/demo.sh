#!/bin/sh
# Runs the C chat with a fixed prompt that makes a tool of the program and a shell command run,
# in a temporary directory that is removed afterwards.
#   DEMO_REAL=1   with the `claude` on PATH and your own login: this costs a few tokens
# Otherwise with the pinned CLI and a scripted Messages API: no key, nothing leaves this machine.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$1" && pwd)
chat=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
cli=$here/tests/real-cli/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude

if [ "${DEMO_REAL:-}" = 1 ]; then
  command -v claude >/dev/null || { echo "DEMO_REAL=1: no claude on PATH" >&2; exit 1; }
else
  cargo build --quiet --locked -p towline-testkit --bins
fi

dir=$(mktemp -d)
trap 'cd /; rm -rf "$dir"' EXIT
trap : INT # the chat's own affair
trap 'exit 143' TERM
trap 'exit 129' HUP
cd "$dir"

ask() { # a person at a terminal answers; a pipe always says yes
  if [ -t 0 ]; then "$@"; else yes y | "$@"; fi
}

if [ "${DEMO_REAL:-}" = 1 ]; then
  echo "Demo: your own CLI ($(command -v claude)) and login."
  ask "$chat" 'Use the weather tool for Oslo, then run: echo hello from Towline > hello.txt'
else
  echo "Demo: the pinned CLI and a scripted Messages API on loopback; no key, nothing leaves this machine."
  ask "$target/debug/isolated" -- "$chat" --cli "$cli" --model claude-sonnet-4-5 \
    'CHAIN [["mcp__demo__weather", {"city": "Oslo"}], ["Bash", {"command": "echo hello from Towline > hello.txt", "description": "Write a greeting"}]]'
fi
[ ! -f hello.txt ] || echo "hello.txt, removed now, said: $(cat hello.txt)"
