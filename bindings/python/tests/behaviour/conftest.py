"""See `support.hooks`."""

import importlib
import os
import sys

if "TOWLINE_TEST_MODULE" in os.environ:  # to see what another package with the same names does
    sys.modules["towline"] = importlib.import_module(os.environ["TOWLINE_TEST_MODULE"])

from support.hooks import (
    cli,
    loop,
    nothing_left,
    nothing_logged,
    pytest_generate_tests,
    pytest_pyfunc_call,
)

__all__ = [
    "cli",
    "loop",
    "nothing_left",
    "nothing_logged",
    "pytest_generate_tests",
    "pytest_pyfunc_call",
]
