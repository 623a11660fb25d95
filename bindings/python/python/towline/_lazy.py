"""Names of a package that are imported when they are first asked for (PEP 562)."""

import sys
from collections.abc import Callable
from typing import Any


def lazy(
    package: str, modules: dict[str, str], submodules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package.

    `modules` says which names each module has for the package, with spaces between them.
    """
    where = {name: module for module, names in modules.items() for name in names.split()}
    known = vars(sys.modules[package])

    def getattribute(name: str) -> Any:
        from importlib import import_module

        module = where.get(name)
        if module is not None:
            value = known[name] = getattr(import_module(f"{package}.{module}"), name)
            return value
        if name in submodules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return getattribute, lambda: sorted({*known, *where, *submodules})
