"""Lets programs that import `claude_agent_sdk` run on Towline as they are.

import towline.compat
towline.compat.install()

from claude_agent_sdk import query, ClaudeAgentOptions   # Towline's
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

NAME = "claude_agent_sdk"

_PACKAGE = __name__.rpartition(".")[0]


class _Alias(MetaPathFinder, Loader):
    """Finds `claude_agent_sdk` and its modules at Towline's."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        if fullname.startswith(f"{NAME}._internal"):
            raise ModuleNotFoundError(
                f"{fullname} is an inside of the official package, which Towline does not have",
                name=fullname,
            )
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_PACKAGE + spec.name.removeprefix(NAME))
        # The import system writes the alias's into the module.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        alias = module.__spec__
        if alias is not None:
            module.__spec__ = alias.loader_state


_alias = _Alias()


def install() -> None:
    """From now on, `claude_agent_sdk` is Towline in this process. Idempotent.

    Raises:
        RuntimeError: the official package has been imported already, so that there would be two of
            each class.
    """
    if _alias in sys.meta_path:
        return
    if NAME in sys.modules:
        raise RuntimeError(
            f"{NAME} has been imported already; call towline.compat.install() before that"
        )
    sys.meta_path.insert(0, _alias)


def uninstall() -> None:
    """From now on, `claude_agent_sdk` is the official package, for who imports it anew."""
    if _alias not in sys.meta_path:
        return
    sys.meta_path.remove(_alias)
    for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
        del sys.modules[name]
