"""The package under test, by its public names alone."""

import importlib
import os
from typing import Any

#: Another name only to see what another package with the same names does.
sdk: Any = importlib.import_module(os.environ.get("TOWLINE_TEST_MODULE", "towline"))
