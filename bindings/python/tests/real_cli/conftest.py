"""Each test has a stage of its own; see `stage`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hooks import loop, nothing_left, pytest_pyfunc_call
from support.hooks import pytest_generate_tests as in_each_loop

from .stage import CURRENT, OLDER, Stage, require_isolation

__all__ = ["loop", "nothing_left", "pytest_pyfunc_call"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    in_each_loop(metafunc)
    if "stage" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_versions")
        metafunc.parametrize("version", [CURRENT, OLDER] if both else [CURRENT])


@pytest.fixture(scope="session")
def isolation() -> None:
    problem = require_isolation()
    if problem:
        pytest.fail(problem, pytrace=False)


@pytest.fixture
def stage(isolation: None, version: str, tmp_path: Path, nothing_left: None) -> Iterator[Stage]:
    with Stage(version, tmp_path) as stage:
        yield stage
