#!/bin/sh
# Names every system tool that building and testing need and this machine lacks.
missing=0
need() {
  command -v "$1" >/dev/null 2>&1 && return
  echo "missing: $1 ($2)" >&2
  missing=1
}
need cargo 'a Rust toolchain, 1.85 or newer; https://rustup.rs'
need cc 'a C compiler; Debian: apt-get install gcc'
need c++ 'a C++ compiler; Debian: apt-get install g++'
need nm 'binutils; Debian: apt-get install binutils'
need node 'Node.js 18 or newer, for the pinned CLIs; Debian: apt-get install nodejs'
need npm 'npm, for the pinned CLIs; Debian: apt-get install npm'
need python3 'Python 3.10 or newer; Debian: apt-get install python3'
if command -v python3 >/dev/null 2>&1; then
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    { echo "too old: $(python3 --version) (3.10 or newer is needed)" >&2; missing=1; }
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    { echo "missing: the venv module of python3 (Debian: apt-get install python3-venv)" >&2; missing=1; }
fi
need valgrind 'memory checks of the C tests; Debian: apt-get install valgrind'
[ -n "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || {
  echo "missing: initdb and postgres (a real server for session stores; Debian: apt-get install postgresql)" >&2
  missing=1
}
exit $missing
