"""Writes `python/towline/_engine/controls.py`: a method for every control request of the catalogue.

    python tools/controls.py [--check]

The catalogue stands in core/protocol; what is read here is the JSON Schema made of it.
"""

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parents[2] / "include/schema/control-requests.json"
TARGET = HERE.parent / "python/towline/_engine/controls.py"

# Part of the protocol itself, not requests of a program.
INTERNAL = {"initialize", "mcp_message"}

# The asynchronous client has these with the signatures of the official package.
OFFICIAL = {
    "get_context_usage",
    "interrupt",
    "rewind_files",
    "set_model",
    "set_permission_mode",
    "stop_task",
}

TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "array": "list[Any]",
}

HEAD = '''"""A method for every control request of the CLI (`protocol.md §8`).

Made by tools/controls.py from the catalogue of the core; not to be edited.
"""

from collections.abc import Mapping
from typing import Any


class Unset:
    """Stands for a parameter that was not given, where `None` has a meaning of its own."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def payload(
    always: dict[str, Any],
    optional: Mapping[str, Any],
    nullable: Mapping[str, Any],
) -> dict[str, Any]:
    """The fields of a request: those that are there, those that are not `None`, and those that were
    given."""
    for name, value in optional.items():
        if value is not None:
            always[name] = value
    for name, value in nullable.items():
        if value is not UNSET:
            always[name] = value
    return always
'''


def snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name).lstrip("_")


def python_type(schema: dict[str, Any]) -> tuple[str, bool]:
    """The type of a field, and whether it may be null."""
    options = schema.get("anyOf", [schema])
    kinds = [option.get("type") for option in options]
    nullable = "null" in kinds
    option = next(option for option in options if option.get("type") != "null")
    kind = option.get("type")
    if isinstance(kind, list):
        nullable = nullable or "null" in kind
        kind = next(one for one in kind if one != "null")
    if kind == "array" and option.get("items", {}).get("type") == "string":
        return "list[str]", nullable
    if kind == "object" and isinstance(option.get("additionalProperties"), dict):
        return "dict[str, str]", nullable
    return TYPES.get(kind or "", "Any"), nullable


def described(text: str, indent: str) -> str:
    text = " ".join(text.replace('"', "'").split())
    return textwrap.fill(text, 100 - len(indent), subsequent_indent=indent)


def method(subtype: str, schema: dict[str, Any], asynchronous: bool) -> str:
    required = set(schema.get("required", []))
    signature, always, optional, nullable, lines = ["self"], [], [], [], []
    fields = sorted(schema.get("properties", {}).items(), key=lambda item: item[0] not in required)
    for wire, field in fields:
        name = snake(wire)
        kind, null = python_type(field)
        pair = f'"{wire}": {name}'
        if wire in required:
            signature.append(f"{name}: {kind}" + (" | None" if null else ""))
            always.append(pair)
        elif null:
            signature.append(f"{name}: {kind} | None | Unset = UNSET")
            nullable.append(pair)
        else:
            signature.append(f"{name}: {kind} | None = None")
            optional.append(pair)
        text = described(field.get("description", ""), " " * 16)
        lines.append(f"            {name}: {text}")
    # A lone one needs no name.
    if len(required) < len(fields) > 1:
        signature.insert(1 + len(required), "*")
    text = described(schema.get("description", ""), " " * 8)
    doc = f'        """{text}"""'
    if lines:
        doc = f'        """{text}\n\n        Args:\n' + "\n".join(lines) + '\n        """'
    groups = ", ".join("{" + ", ".join(group) + "}" for group in (always, optional, nullable))
    call = (
        f'self._control("{subtype}", payload({groups}))'
        if fields
        else f'self._control("{subtype}", {{}})'
    )
    define, wait = ("async def", "await ") if asynchronous else ("def", "")
    head = f"    {define} {subtype}({', '.join(signature)}) -> dict[str, Any]:"
    return f"{head}\n{doc}\n        return {wait}{call}\n"


def module() -> str:
    requests = json.loads(SCHEMA.read_text())["$defs"]
    parts = [HEAD]
    for asynchronous in (True, False):
        skipped = INTERNAL | (OFFICIAL if asynchronous else set())
        name = "AsyncControls" if asynchronous else "Controls"
        how = "awaits" if asynchronous else "waits for"
        define = "async def" if asynchronous else "def"
        parts.append(
            f'\n\nclass {name}:\n    """Each sends a request, {how} the answer and gives its payload."""\n\n'
            f"    {define} _control(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:\n"
            "        raise NotImplementedError\n"
        )
        parts += [
            "\n" + method(subtype, schema, asynchronous)
            for subtype, schema in sorted(requests.items())
            if subtype not in skipped
        ]
    return "".join(parts)


def main() -> int:
    import subprocess

    text = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"],
        input=module(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            print(f"{TARGET} is out of date: run tools/controls.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
