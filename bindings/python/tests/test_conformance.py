"""The conformance suite passes stores that do as they should, and finds those that do not."""

from typing import Any

import anyio
import claude_agent_sdk as official
import pytest

from towline.testing import run_session_store_conformance

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def run(make: Any, backend: str = "asyncio", **more: Any) -> None:
    async def main() -> None:
        await run_session_store_conformance(make, **more)

    anyio.run(main, backend=backend)


@BACKENDS
def test_the_official_store_passes(backend: str) -> None:
    run(official.InMemorySessionStore, backend)


def test_makers_may_be_asynchronous() -> None:
    async def make() -> Any:
        return official.InMemorySessionStore()

    run(make)


class Minimal:
    def __init__(self) -> None:
        self.kept: dict[Any, list[Any]] = {}

    async def append(self, key: Any, entries: list[Any]) -> None:
        self.kept.setdefault(tuple(sorted(key.items())), []).extend(entries)

    async def load(self, key: Any) -> list[Any] | None:
        return self.kept.get(tuple(sorted(key.items())))


def test_the_optional_methods_are_optional() -> None:
    run(Minimal)
    with pytest.raises(AssertionError):
        run(Minimal, skip_optional=frozenset({"append"}))


class Reversed(Minimal):
    async def load(self, key: Any) -> list[Any] | None:
        entries = await super().load(key)
        return entries and entries[::-1]


class NoSubpath(Minimal):
    async def append(self, key: Any, entries: list[Any]) -> None:
        merged: Any = {**key, "subpath": ""}
        await super().append(merged, entries)

    async def load(self, key: Any) -> list[Any] | None:
        merged: Any = {**key, "subpath": ""}
        return await super().load(merged)


class EmptyForNever(Minimal):
    async def load(self, key: Any) -> list[Any] | None:
        return await super().load(key) or []


class Deduplicating(Minimal):
    async def append(self, key: Any, entries: list[Any]) -> None:
        known = await self.load(key) or []
        await super().append(key, [entry for entry in entries if entry not in known][:1])


class InSeconds(official.InMemorySessionStore):
    async def list_sessions(self, project_key: str) -> Any:
        listed = await super().list_sessions(project_key)
        return [{**entry, "mtime": entry["mtime"] // 1000} for entry in listed]


class KeepsSubagents(official.InMemorySessionStore):
    async def delete(self, key: Any) -> None:
        subkeys = await self.list_subkeys(key)
        kept: dict[Any, Any] = {}
        for name in subkeys:
            sub: Any = {**key, "subpath": name}
            kept[name] = (sub, await self.load(sub))
        await super().delete(key)
        for sub, entries in kept.values():
            if entries and "subpath" not in key:
                await self.append(sub, entries)


class ListsAll(official.InMemorySessionStore):
    async def list_subkeys(self, key: Any) -> list[str]:
        return [*await super().list_subkeys(key), ""]


@pytest.mark.parametrize(
    "broken",
    [Reversed, NoSubpath, EmptyForNever, Deduplicating, InSeconds, KeepsSubagents, ListsAll],
)
def test_broken_stores_are_found(broken: Any) -> None:
    with pytest.raises(AssertionError):
        run(broken)
