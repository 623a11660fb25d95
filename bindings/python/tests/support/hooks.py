"""Every test that is a coroutine function runs in each event loop, and leaves nothing behind."""

import inspect
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .fake import FakeCli
from .leftovers import Before
from .loops import NAMES, Loop


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if inspect.iscoroutinefunction(metafunc.function):
        marker = metafunc.definition.get_closest_marker("loops")
        metafunc.parametrize("loop", marker.args if marker else NAMES, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given: dict[str, Any] = pyfuncitem.funcargs
    arguments: dict[str, Any] = {name: given[name] for name in pyfuncitem._fixtureinfo.argnames}
    given["loop"].run(partial(pyfuncitem.obj, **arguments))
    return True


@pytest.fixture(autouse=True)
def loop(request: pytest.FixtureRequest) -> Loop | None:
    """The event loop of a test that is a coroutine function."""
    name = getattr(request, "param", None)
    return name and Loop(name)


@pytest.fixture
def nothing_logged() -> Iterator[None]:
    """For what logs an exception: pytest keeps the record, and with it the frames and all that is in them."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No process, descriptor or thread of a session outlives the test."""
    before = Before()
    yield
    before.check()


@pytest.fixture
def cli(tmp_path: Path, nothing_left: None) -> FakeCli:
    return FakeCli(tmp_path)
