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
        return _with_definitions(
            {
                "type": "object",
                "properties": {name: schema(hint) for name, hint in described.items()},
                "required": list(described),
            }
        )
    found = _object(described, ())
    if found is None:
        return {"type": "object", "properties": {}}
    return found if _is_model(described) else _with_definitions(found)


def schema(hint: Any, within: tuple[type, ...] = ()) -> dict[str, Any]:
    """The schema of one type; `{}`, which is anything, for `Any` and `object`.

    `within` are the classes that it is a part of. One of them again is any object.
    """
    if isinstance(hint, dict):
        return hint
    origin = get_origin(hint)
    if getattr(origin, "_name", None) in _QUALIFIERS:
        return schema(get_args(hint)[0], within)
    if origin is Annotated:
        inner, *notes = get_args(hint)
        found = dict(schema(inner, within))
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
        some = [schema(part, within) for part in get_args(hint) if part is not types.NoneType]
        return some[0] if len(some) == 1 else {"anyOf": some}
    if origin is typing.Literal:
        return _choices(list(get_args(hint)))
    container = origin or hint
    if isinstance(container, type):
        return _of_class(container, get_args(hint), within)
    return {"type": "string"}


def _of_class(container: type, parts: tuple[Any, ...], within: tuple[type, ...]) -> dict[str, Any]:
    """The schema of a class, or of a generic class with its arguments."""
    if issubclass(container, tuple):
        items = parts[0] if len(parts) == 2 and parts[1] is Ellipsis else None
        return (
            {"type": "array"}
            if items is None
            else {"type": "array", "items": schema(items, within)}
        )
    if issubclass(container, Sequence) and not issubclass(container, (str, bytes)):
        items = parts[0] if parts else None
        return {"type": "array", "items": schema(items, within)} if parts else {"type": "array"}
    if issubclass(container, (set, frozenset)):
        found: dict[str, Any] = {"type": "array", "uniqueItems": True}
        return {**found, "items": schema(parts[0], within)} if parts else found
    described = _object(container, within)
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


def _object(described: Any, within: tuple[type, ...]) -> dict[str, Any] | None:
    """The schema of a class with named and typed parts; `None` if it is no such class."""
    if any(described is outer for outer in within):
        return {"type": "object"}
    if _is_typeddict(described):
        hints = _hints(described)
        required = sorted(described.__required_keys__)
        return _properties(hints, required, (*within, described))
    if not isinstance(described, type):
        return None
    if _is_model(described):
        model: Any = described
        found: dict[str, Any] = model.model_json_schema()
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
        named = {field.name: hints[field.name] for field in fields}
        return _properties(named, needed, (*within, described))
    return None


def _properties(
    hints: Mapping[str, Any], required: list[str], within: tuple[type, ...]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema(hint, within) for name, hint in hints.items()},
    }
    if required:
        found["required"] = required
    return found


def _with_definitions(whole: dict[str, Any]) -> dict[str, Any]:
    """A schema with the definitions of its parts beside it: a reference starts at the whole, and a
    part that comes from elsewhere, such as a pydantic model, refers to itself."""
    shared: dict[str, Any] = {}
    seen: list[tuple[dict[str, Any], dict[str, str]]] = []

    def share(own: dict[str, Any]) -> dict[str, str]:
        for known, renamed in seen:
            if known == own:
                return renamed
        names = {name: _free(name, shared) for name in own}
        renamed = {f"#/$defs/{name}": f"#/$defs/{new}" for name, new in names.items()}
        for name, definition in own.items():
            shared[names[name]] = _referring(definition, renamed)
        seen.append((own, renamed))
        return renamed

    def lifted(part: dict[str, Any]) -> dict[str, Any]:
        own = part.get("$defs")
        if isinstance(own, dict):
            renamed = share(own)
            rest = {key: value for key, value in part.items() if key != "$defs"}
            found: dict[str, Any] = _referring(rest, renamed)
            return found
        found = dict(part)
        if isinstance(part.get("properties"), dict):
            found["properties"] = {
                name: lifted(inner) if isinstance(inner, dict) else inner
                for name, inner in part["properties"].items()
            }
        if isinstance(part.get("items"), dict):
            found["items"] = lifted(part["items"])
        if isinstance(part.get("anyOf"), list):
            found["anyOf"] = [
                lifted(inner) if isinstance(inner, dict) else inner for inner in part["anyOf"]
            ]
        return found

    found = lifted(whole)
    return {**found, "$defs": shared} if shared else found


def _free(name: str, shared: Mapping[str, Any]) -> str:
    """A name for a definition that no other part has for one of its own."""
    new, number = name, 1
    while new in shared:
        number += 1
        new = f"{name}_{number}"
    return new


def _referring(value: Any, renamed: Mapping[str, str]) -> Any:
    """A copy whose references have their new names."""
    if isinstance(value, dict):
        return {
            key: renamed.get(inner, inner)
            if key == "$ref" and isinstance(inner, str)
            else _referring(inner, renamed)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_referring(inner, renamed) for inner in value]
    return value


def _is_model(described: Any) -> bool:
    """Whether it is a pydantic model."""
    return isinstance(described, type) and hasattr(described, "model_json_schema")


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
