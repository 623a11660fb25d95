"""Dataclasses whose methods are made when one of them is first needed.

`dataclasses` compiles three functions a class, and importing it brings in `inspect`: for all classes
of this package that is longer than the rest of a program's start. What `dataclass` here gives becomes
a plain dataclass when somebody makes, prints, compares, inspects or copies an instance or asks for
the fields; until then it is a class with defaults. Type checkers see `dataclasses`.
"""

import sys
from _thread import RLock
from typing import TYPE_CHECKING, Any


class Late:
    """A descriptor that makes a field's value when it is asked for. It stands in the class where a
    plain dataclass has the field's default, if there is one."""

    default: tuple[Any, ...] = ()
    """The default; empty for none."""


if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    # What `dataclasses.dataclass` adds; then what `inspect.signature` asks a class for first, which
    # goes away when the others are there.
    _MADE = (
        "__init__",
        "__repr__",
        "__eq__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__match_args__",
        *(("__replace__",) if sys.version_info >= (3, 13) else ()),
        "__signature__",
    )
    _LOCK = RLock()

    class _Factory:
        """A default that is made for each instance."""

        __slots__ = ("make",)

        def __init__(self, make):
            self.make = make

    class _Pending:
        """Stands in a class for something that is not made yet."""

        __slots__ = ("arguments", "name", "owner")

        def __init__(self, owner, name, arguments):
            self.owner = owner
            self.name = name
            self.arguments = arguments

        def __get__(self, instance, owner=None):
            _complete(self.owner, self.arguments)
            return getattr(owner if instance is None else instance, self.name)

    def _complete(owner, arguments):
        """Makes a twin and moves what it got into the class, so that no other thread ever finds the
        class without one of them."""
        import dataclasses

        with _LOCK:
            if not isinstance(vars(owner).get("__signature__"), _Pending):
                return
            body = {
                name: dataclasses.field(default_factory=value.make)
                if isinstance(value, _Factory)
                else value
                for name, value in vars(owner).items()
                if name not in _MADE and name not in ("__dict__", "__weakref__", "__hash__")
            }
            for name, value in tuple(body.items()):
                if isinstance(value, Late):
                    del body[name]
                    for default in value.default:
                        body[name] = default
            twin = dataclasses.dataclass(**arguments)(type(owner.__name__, owner.__bases__, body))
            for name in _MADE[:-1]:
                setattr(owner, name, vars(twin)[name])
            for name, value in tuple(vars(owner).items()):
                if isinstance(value, _Factory):
                    delattr(owner, name)
            delattr(owner, "__signature__")

    def dataclass(cls=None, /, **arguments):
        """`dataclasses.dataclass`, later."""
        if cls is None:
            return lambda cls: dataclass(cls, **arguments)
        for name in _MADE:
            setattr(cls, name, _Pending(cls, name, arguments))
        cls.__hash__ = None
        return cls

    def field(*, default_factory):
        """`dataclasses.field` of a default that is made for each instance."""
        return _Factory(default_factory)


__all__ = ["Late", "dataclass", "field"]
