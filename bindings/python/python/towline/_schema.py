"""JSON Schema of a tool's arguments, from what Python programs describe arguments with.

What the official package makes a schema of comes out the same. What it takes for a string or drops
(`Literal`, enumerations, `Any`, tuples, sets, dataclasses, pydantic models, schemas of single
properties) gets the schema it means.
"""

import sys
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}

_QUALIFIERS = ("NotRequired", "Required", "ReadOnly")


def input_schema(described: Any) -> dict[str, Any]:
    """The schema of arguments that are described by a JSON Schema, by a dict of name to type, by a
    `TypedDict`, a dataclass or a pydantic model; of anything else, no arguments."""
    if isinstance(described, dict):
        if isinstance(described.get("type"), str):
            return described
        return {
            "type": "object",
            "properties": {name: schema(hint) for name, hint in described.items()},
            "required": list(described),
        }
    return _object(described) or {"type": "object", "properties": {}}


def schema(hint: Any) -> dict[str, Any]:
    """The schema of one type; `{}`, which is anything, for `Any` and `object`."""
    if isinstance(hint, dict):
        return hint
    origin = get_origin(hint)
    if getattr(origin, "_name", None) in _QUALIFIERS:
        return schema(get_args(hint)[0])
    if origin is Annotated:
        inner, *notes = get_args(hint)
        found = dict(schema(inner))
        for note in notes:
            if isinstance(note, str):
                found["description"] = note
                break
        return found
    simple = _SIMPLE.get(hint) if isinstance(hint, type) else None
    if simple:
        return {"type": simple}
    if hint is Any or hint is object:
        return {}
    if origin is Union or isinstance(hint, types.UnionType):
        some = [schema(part) for part in get_args(hint) if part is not types.NoneType]
        return some[0] if len(some) == 1 else {"anyOf": some}
    if origin is typing.Literal:
        return _choices(list(get_args(hint)))
    container = origin or hint
    if isinstance(container, type):
        return _of_class(container, get_args(hint))
    return {"type": "string"}


def _of_class(container: type, parts: tuple[Any, ...]) -> dict[str, Any]:
    """The schema of a class, or of a generic class with its arguments."""
    if issubclass(container, tuple):
        items = parts[0] if len(parts) == 2 and parts[1] is Ellipsis else None
        return {"type": "array"} if items is None else {"type": "array", "items": schema(items)}
    if issubclass(container, Sequence) and not issubclass(container, (str, bytes)):
        return {"type": "array", "items": schema(parts[0])} if parts else {"type": "array"}
    if issubclass(container, (set, frozenset)):
        found: dict[str, Any] = {"type": "array", "uniqueItems": True}
        return {**found, "items": schema(parts[0])} if parts else found
    described = _object(container)
    if described:
        return described
    if issubclass(container, Mapping):
        return {"type": "object"}
    enum = sys.modules.get("enum")
    if enum is not None and issubclass(container, enum.Enum):
        members: Any = container
        return _choices([member.value for member in members])
    return {"type": "string"}


def _choices(values: list[Any]) -> dict[str, Any]:
    kinds = {_SIMPLE.get(type(value)) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _object(described: Any) -> dict[str, Any] | None:
    """The schema of a class with named and typed parts; `None` if it is no such class."""
    if _is_typeddict(described):
        hints = _hints(described)
        return _properties(hints, sorted(described.__required_keys__))
    if not isinstance(described, type):
        return None
    model: Any = getattr(described, "model_json_schema", None)
    if model is not None:
        found: dict[str, Any] = model()
        return found
    if hasattr(described, "__dataclass_fields__"):
        import dataclasses

        hints = _hints(described)
        fields = [field for field in dataclasses.fields(described) if field.init]
        needed = [
            field.name
            for field in fields
            if field.default is field.default_factory is dataclasses.MISSING
        ]
        return _properties({field.name: hints[field.name] for field in fields}, needed)
    return None


def _properties(hints: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema(hint) for name, hint in hints.items()},
    }
    if required:
        found["required"] = required
    return found


def _is_typeddict(described: Any) -> bool:
    """Whether it is a `TypedDict`, of `typing` or of `typing_extensions`."""
    return (
        isinstance(described, type)
        and issubclass(described, dict)
        and hasattr(described, "__required_keys__")
    )


def _hints(described: Any) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        return typing.get_type_hints(described, include_extras=True)
    # Python 3.10 does not know NotRequired.
    import typing_extensions

    return typing_extensions.get_type_hints(described, include_extras=True)
