"""Sessions with the pinned real CLIs and the scripted Messages API.

To be run under the `isolated` program of `tests/testkit`, which `make test` does:

    isolated --env CARGO_TARGET_DIR -- python -m pytest tests/real_cli
"""
