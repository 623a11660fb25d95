#!/bin/sh
# Passes the tests of the Python package with other interpreters: one wheel for all of them, a
# virtual environment for each.
#
#     tools/versions.sh TARGET VERSION…        as: tools/versions.sh ../../target 3.10 3.13
#
# An interpreter is `pythonX.Y` in PATH or one of pyenv's. Those that are missing are named, and the
# others not begun with.
set -eu

target=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")/..
cd "$here"

find_python() {
	for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
		path=$(command -v "$candidate") || continue
		# Those that pyenv puts into PATH need not work.
		if "$path" -c 'import venv' 2>/dev/null; then
			echo "$path"
			return
		fi
	done
	return 1
}

missing=
for version in "$@"; do
	find_python "$version" >/dev/null || missing="$missing $version"
done
if [ -n "$missing" ]; then
	echo "no interpreter for Python$missing: install with pyenv install, uv python install or your system's packages" >&2
	exit 1
fi

wheels=$target/wheels-debug
rm -rf "$wheels"
"$target/python-venv/bin/maturin" build --quiet --locked --out "$wheels"

for version in "$@"; do
	venv=$target/python-venv-$version
	if [ ! -e "$venv/installed" ] || [ requirements.txt -nt "$venv/installed" ]; then
		"$(find_python "$version")" -m venv "$venv"
		"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
		touch "$venv/installed"
	fi
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/towline-*.whl
	echo "$("$venv/bin/python" --version):"
	CARGO_TARGET_DIR=$target "$venv/bin/python" -m pytest -q -n 4 -p no:cacheprovider --ignore tests/real_cli
done
