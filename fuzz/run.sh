#!/bin/sh
# Runs every fuzz target for so many seconds each, from the recordings and the inputs that are kept; a
# finding ends the run with its input's path. With `keep` as the second argument the fewest inputs
# that reach all that was reached replace those that are kept.
set -eu
seconds=${1:-60}
keep=${2:-}
cd "$(dirname "$0")/.."
command -v cargo-fuzz >/dev/null || { echo "missing: cargo-fuzz (cargo install cargo-fuzz)" >&2; exit 1; }
found=fuzz/target/found
cargo run --quiet --locked -p towline-fuzz-checks --bin towline-fuzz-seeds -- "$found/seeds"
for target in ${FUZZ_TARGETS:-framer connection messages mcp options redactor transcripts c}; do
  echo "fuzzing $target for $seconds s"
  mkdir -p "$found/$target" "fuzz/corpus/$target"
  cargo +nightly fuzz run "$target" "$found/$target" "fuzz/corpus/$target" "$found/seeds/$target" -- \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -dict=fuzz/json.dict
  [ "$keep" = keep ] || continue
  rm -rf "$found/kept" && mkdir "$found/kept"
  cargo +nightly fuzz run "$target" "$found/kept" "$found/$target" "fuzz/corpus/$target" "$found/seeds/$target" -- \
    -set_cover_merge=1 -max_len=4096
  rm -r "fuzz/corpus/$target" && cp -r "$found/kept" "fuzz/corpus/$target"
done
