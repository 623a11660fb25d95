"""What a session must not leave behind in this process."""

import gc
import os
import select
import threading
from pathlib import Path


def children() -> set[int]:
    """The processes that this one has started and not yet waited for."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.update(int(pid) for pid in (task / "children").read_text().split())
        except OSError:  # a thread that has just ended
            continue
    return found


def descriptors() -> set[str]:
    """The open descriptors and what they are."""
    found = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{entry} {os.readlink(f'/proc/self/fd/{entry}')}")
        except OSError:  # that of the listing
            continue
    return found


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def is_gone(pid: int, seconds: float = 5) -> bool:
    """Waits for the end of a process, whoever has started it; a zombie has not been waited for."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watch], [], [], seconds)[0])
    finally:
        os.close(watch)


class Before:
    """How things were; `check` says what has been added."""

    def __init__(self) -> None:
        gc.collect()
        self._children = children()
        self._descriptors = descriptors()
        self._threads = threading.active_count()

    def check(self) -> None:
        gc.collect()
        left = children() - self._children
        still = {pid for pid in left if not is_gone(pid)}
        assert not still, f"processes are still running: {still}"
        zombies = children() - self._children
        assert not zombies, f"nobody has waited for {zombies}"
        open_ones = descriptors() - self._descriptors
        assert not open_ones, f"descriptors are left open: {open_ones}"
        assert threading.active_count() <= self._threads, (
            f"threads are left over: {threading.enumerate()}"
        )
