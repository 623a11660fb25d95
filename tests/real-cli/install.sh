#!/bin/sh
# Installs the Claude Code CLIs pinned in package-lock.json beside this script, unless they are
# there already. They serve the tests and the demo only and are never shipped.
set -eu
cd "$(dirname "$0")"

lock=package-lock.json
stamp=node_modules/.installed-lock

if cmp -s "$lock" "$stamp"; then
    echo "real CLI: up to date"
    exit 0
fi

for tool in node npm; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "real CLI: '$tool' is missing; install Node.js 18 or later, which brings node and npm:" >&2
        echo "  Debian, Ubuntu: apt-get install nodejs npm;  Fedora: dnf install nodejs npm" >&2
        exit 1
    }
done

echo "real CLI: installing the pinned versions with npm ci (about 650 MB)"
# The platform packages hold the executables; no install script is needed.
npm ci --ignore-scripts --no-audit --no-fund

modules=node_modules/@anthropic-ai
for cli in "$modules/claude-agent-sdk-linux-x64/claude" "$modules/claude-code-linux-x64/claude"; do
    [ -x "$cli" ] || {
        echo "real CLI: npm ci left no executable $cli; the pinned builds are for Linux on x86-64 with glibc" >&2
        exit 1
    }
    echo "real CLI: $cli"
done
cp "$lock" "$stamp"
