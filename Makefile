# Two commands do everything from a fresh clone: `make demo` and `make test`.
# They install what they need from the lockfiles; a missing system tool is named.

CARGO ?= cargo
CC ?= cc
CXX ?= c++
TARGET := $(or $(CARGO_TARGET_DIR),target)
CFLAGS ?= -O2 -g
C_FLAGS := -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude $(CFLAGS)
EXAMPLES := $(TARGET)/examples-c
PYTHON ?= python3
PYTHON_VENV := $(TARGET)/python-venv
PYTHON_BIN := $(abspath $(PYTHON_VENV))/bin
PYTHON_FILES := . ../../tests/drivers/python ../../examples/python ../../benches/python

.PHONY: help demo test neighbours soak check cli command lib node node-test examples python python-test python-check python-bench python-lock python-versions python-package bench bench-node fuzz format clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

demo: lib cli $(EXAMPLES)/chat ## build, then run the C chat: a permission question and a tool
	@examples/demo.sh $(TARGET) $(EXAMPLES)/chat

test: tools lib cli examples ## build and pass everything
	$(CARGO) test --workspace --features towline-protocol/schema --locked
	$(CARGO) test --locked -p towline-transcripts --features postgres-tls --test postgres_tls
	$(CARGO) test --locked -p towline --features tracing --test session spans::
	$(CARGO) test --locked -p towline-examples --features opentelemetry
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	  echo "SKIPPED: the command's page in a browser (Debian: apt-get install chromium)"
	$(MAKE) python-test
	$(MAKE) node-test

neighbours: python node ## pass the neighbours of every field case, and all moments, in every language; an hour
	TOWLINE_NEIGHBOURS=all $(CARGO) test --locked -p towline-case-driver --test neighbours
	TOWLINE_NEIGHBOURS=all $(CARGO) test --locked -p towline-ffi --test cases
	$(CARGO) build --quiet --locked -p towline-testkit --bins
	TOWLINE_NEIGHBOURS=all tests/drivers/python/run.sh $(abspath $(TARGET)) $(PYTHON_BIN)/python
	cd bindings/node && TOWLINE_NEIGHBOURS=all CARGO_TARGET_DIR=$(abspath $(TARGET)) node --test test/cases.test.mjs

soak: ## keep 500 sessions with random faults going for SOAK_MINUTES (30) and count what they use
	$(CARGO) build --release --locked -p towline-soak -p towline-testkit --bins
	$(TARGET)/release/towline-soak --minutes $(or $(SOAK_MINUTES),30)

check: tools ## format, lints, documentation, generated files current, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features towline-protocol/schema --locked -- -D warnings
	$(CARGO) clippy --locked -p towline-transcripts --all-targets --features postgres-tls -- -D warnings
	$(CARGO) clippy --locked -p towline --all-targets --features tracing -- -D warnings
	$(CARGO) clippy --locked -p towline-examples --all-targets --features opentelemetry -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) run --quiet --locked -p xtask -- header --check
	$(CARGO) run --quiet --locked -p xtask -- schemas --check
	$(CARGO) run --quiet --locked -p xtask -- readme --check
	$(MAKE) python-check
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny --offline check licenses bans sources; \
	else echo "SKIPPED: licences (cargo install cargo-deny to check them)"; fi

tools:
	@tests/tools.sh

cli: ## install the pinned CLIs that tests and the demo run (never shipped)
	@tests/real-cli/install.sh

command: ## build the command for people, `towline`
	$(CARGO) build --release --locked -p towline-cli
	@echo "$(TARGET)/release/towline"

lib: ## build libtowline.so and libtowline.a
	$(CARGO) build --locked -p towline-ffi
	@ln -sf libtowline.so $(TARGET)/debug/libtowline.so.0

node: bindings/node/node_modules ## build the Node package
	cd bindings/node && npm run --silent build

node-test: node cli ## test the Node package
	cd bindings/node && npm test

bindings/node/node_modules: bindings/node/package-lock.json
	cd bindings/node && npm ci --omit=optional --ignore-scripts --no-audit --no-fund
	@touch $@

$(EXAMPLES)/%: examples/c/%.c include/towline.h lib
	@mkdir -p $(EXAMPLES)
	$(CC) $(C_FLAGS) $< -o $@ -L$(TARGET)/debug -ltowline -Wl,-rpath,'$$ORIGIN/../debug'

examples: $(EXAMPLES)/chat $(EXAMPLES)/eventloop $(EXAMPLES)/quickstart $(EXAMPLES)/transport ## build the C examples

$(PYTHON_VENV)/installed: bindings/python/requirements.txt
	$(PYTHON) -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

python: $(PYTHON_VENV)/installed ## build the Python package into a virtual environment of its own
	VIRTUAL_ENV=$(abspath $(PYTHON_VENV)) $(PYTHON_VENV)/bin/maturin develop --quiet --locked \
	  --manifest-path bindings/python/Cargo.toml

python-test: python cli ## pass the tests of the Python package
	$(CARGO) build --quiet --locked -p towline-testkit --bins
	cd bindings/python && CARGO_TARGET_DIR=$(abspath $(TARGET)) \
	  $(PYTHON_BIN)/python -m pytest -q -n 4 --ignore tests/real_cli
	cd bindings/python && $(abspath $(TARGET))/debug/isolated --env CARGO_TARGET_DIR=$(abspath $(TARGET)) \
	  --env TOWLINE_ALLOW_UNISOLATED -- $(PYTHON_BIN)/python -m pytest -q -n 4 -p no:cacheprovider tests/real_cli
	tests/drivers/python/run.sh $(abspath $(TARGET)) $(PYTHON_BIN)/python

PYTHON_VERSIONS ?= 3.10 3.12 3.13

python-versions: $(PYTHON_VENV)/installed ## pass the tests of the Python package with other interpreters; PYTHON_VERSIONS=3.13
	$(CARGO) build --quiet --locked -p towline-testkit --bins
	bindings/python/tools/versions.sh $(TARGET) $(PYTHON_VERSIONS)

python-package: $(PYTHON_VENV)/installed ## build wheel and source package as users do, install each and ask; needs the network
	$(CARGO) build --quiet --locked -p towline-testkit --bins
	bindings/python/tools/package.sh $(TARGET) $(PYTHON)

python-check: python ## format, lints and types of the Python package and its examples
	cd bindings/python && $(PYTHON_BIN)/ruff format --quiet --check $(PYTHON_FILES)
	cd bindings/python && $(PYTHON_BIN)/python tools/controls.py --check
	cd bindings/python && $(PYTHON_BIN)/ruff check --quiet $(PYTHON_FILES)
	cd bindings/python && $(PYTHON_BIN)/mypy --no-error-summary
	cd bindings/python && $(PYTHON_BIN)/mypy --no-error-summary ../../examples/python/*.py
	cd bindings/python && $(PYTHON_BIN)/mypy --no-error-summary --config-file= --python-version 3.10 \
	  --ignore-missing-imports --disable-error-code union-attr tests tools
	cd bindings/python && $(PYTHON_BIN)/pyright --pythonpath $(PYTHON_BIN)/python >&2
	cd bindings/python && $(PYTHON_BIN)/stubtest towline._native --allowlist stubtest-allowlist.txt

python-bench: $(PYTHON_VENV)/installed cli ## measure the Python package against the official one; ROUNDS=5
	$(PYTHON_VENV)/bin/maturin build --quiet --release --locked \
	  --manifest-path bindings/python/Cargo.toml --out $(TARGET)/wheels
	rm -rf $(TARGET)/python-bench
	$(PYTHON_VENV)/bin/pip install --quiet --no-deps --target $(TARGET)/python-bench \
	  $(TARGET)/wheels/towline-*.whl
	$(CARGO) build --release --locked -p towline-testkit --bins
	$(PYTHON_VENV)/bin/python benches/python/bench.py --rounds $(or $(ROUNDS),5)

python-lock: ## lock what the Python package is built and tested with; needs uv
	cd bindings/python && uv pip compile --quiet --universal --generate-hashes --no-annotate \
	  --no-emit-index-url --no-emit-find-links --python-version 3.10 \
	  --custom-compile-command "make python-lock" requirements.in -o requirements.txt

bench: ## measure against plain loops on one core; prints ratios and the machine
	$(CARGO) build --release --locked -p towline-session-benches -p towline-store-benches -p towline-testkit --bins
	taskset -c 0 $(CARGO) bench --locked -p towline-benches
	$(TARGET)/release/permission
	$(TARGET)/release/many
	@$(MAKE) --no-print-directory bench-node
	$(TARGET)/release/mirror
	$(TARGET)/release/stores

bench-node: bindings/node/node_modules ## measure the Node package against the official one
	cd bindings/node && npm run --silent build:release
	$(CARGO) build --release --locked -p towline-testkit --bins
	node benches/node/bench.mjs

fuzz: ## run every fuzz target for FUZZ_SECONDS (60) each; needs cargo-fuzz and a nightly toolchain
	fuzz/run.sh $(or $(FUZZ_SECONDS),60)

format: ## format the sources
	$(CARGO) fmt --all

clean: ## remove what was built
	$(CARGO) clean
	rm -rf tests/real-cli/node_modules
