#!/bin/sh
# Builds the Python package as its users do, from a clone of what is committed, and asks a first
# question with each result: the source package, and the wheel that pip makes of the folder.
#
#     tools/package.sh TARGET PYTHON           as: tools/package.sh ../../target python3.12
#
# What cargo makes is kept in TARGET/package. The wheel may have 8 MB.
set -eu

target=$(realpath "$1")
python=$2
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone --quiet "$(git -C "$here" rev-parse --show-toplevel)" "$work/clone"
export CARGO_TARGET_DIR="$target/package"

try() {
	echo "$1"
	"$python" -m venv --clear "$work/venv"
	"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$2"
	(cd "$work" && "$work/venv/bin/python" "$here/ask.py" "$target/debug/fake-cli")
}

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
	--wheel-dir "$work/wheels" "$work/clone/bindings/python"
try "wheel:" "$work"/wheels/towline-*.whl
size=$(wc -c <"$(echo "$work"/wheels/towline-*.whl)")
if [ "$size" -gt 8000000 ]; then
	echo "the wheel has $size bytes" >&2
	exit 1
fi

"$target/python-venv/bin/maturin" sdist --quiet \
	--manifest-path "$work/clone/bindings/python/Cargo.toml" --out "$work/source"
rm -rf "$work/clone"
try "source package:" "$work"/source/towline-*.tar.gz
