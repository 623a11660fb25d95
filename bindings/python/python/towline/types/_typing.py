"""The `TypedDict` that knows `Required` and `NotRequired` on every Python there is.

Before Python 3.11 the one in `typing` computes `__required_keys__` without them (PEP 655).
"""

import sys

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required, TypedDict
else:
    from typing_extensions import NotRequired, Required, TypedDict

__all__ = ["NotRequired", "Required", "TypedDict"]
