#!/bin/sh
# Runs every fuzz target for so many seconds each; a finding ends the run with its input's path.
set -eu
seconds=${1:-60}
cd "$(dirname "$0")/.."
command -v cargo-fuzz >/dev/null || { echo "missing: cargo-fuzz (cargo install cargo-fuzz)" >&2; exit 1; }
for target in ${FUZZ_TARGETS:-framer connection mcp options}; do
  echo "fuzzing $target for $seconds s"
  mkdir -p "fuzz/corpus/$target"
  cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -dict=fuzz/json.dict
done
