#!/bin/sh
# Names every system tool that building and testing need and this machine lacks. `--install`
# installs those that Debian has, as root.
missing=''
packages=''
lacks() {
  missing="$missing
missing: $1 ($2${3:+; Debian: apt-get install $3})"
  packages="$packages $3"
}
need() {
  command -v "$1" >/dev/null 2>&1 || lacks "$1" "$2" "$3"
}
look() {
  missing=''
  packages=''
  need cargo 'a Rust toolchain, 1.85 or newer; https://rustup.rs' ''
  need cc 'a C compiler' gcc
  need c++ 'a C++ compiler' g++
  need nm 'binutils' binutils
  need node 'Node.js 18 or newer, for the Node package and the pinned CLIs' nodejs
  need npm 'for the Node package and the pinned CLIs' npm
  need python3 'Python 3.10 or newer' python3
  if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
      lacks "Python 3.10 or newer" "there is $(python3 --version)" ''
    python3 -c 'import ensurepip, venv' 2>/dev/null ||
      lacks 'the venv module of python3' 'environments for tests' python3-venv
  fi
  need openssl 'certificates for tests of TLS' openssl
  need valgrind 'memory checks of the C tests' valgrind
  [ -n "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] ||
    lacks 'initdb and postgres' 'a real server for session stores' postgresql
  need ssh 'launchers' openssh-client
  [ -n "$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null)" ] ||
    lacks sshd 'a real server for launchers' openssh-server
}
look
if [ "${1:-}" = --install ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  # Without it the tests of pages are left out, and say so.
  command -v chromium >/dev/null || packages="$packages chromium"
  if [ -n "$packages" ]; then
    apt-get update -qq
    # shellcheck disable=SC2086 # several names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
  fi
  look
fi
[ -z "$missing" ] && exit
echo "$missing" | sed 1d >&2
exit 1
