"""The programs of `tests/testkit`, which cargo builds."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[4]


def program(name: str) -> Path:
    """The path of `fake-cli`, `scripted-api` or `isolated`."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    path = target / "debug" / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: build it with `cargo build -p towline-testkit --bins`"
        )
    return path
