"""The steps about sessions on disk, which need no CLI."""

import dataclasses
from typing import Any

from .package import sdk
from .record import Record


def take(step: dict[str, Any], record: Record) -> bool:
    """Whether the step was one of these; it is done then."""
    if "list_sessions" in step:
        found = sdk.list_sessions(directory=step["list_sessions"].get("dir"))
        record.values.append([dataclasses.asdict(session) for session in found])
    elif "session_messages" in step:
        asked = step["session_messages"]
        found = sdk.get_session_messages(asked["id"], directory=asked.get("dir"))
        record.values.append([dataclasses.asdict(message) for message in found])
    elif "rename_session" in step:
        asked = step["rename_session"]
        sdk.rename_session(asked["id"], asked["title"], directory=asked.get("dir"))
    elif "tag_session" in step:
        asked = step["tag_session"]
        sdk.tag_session(asked["id"], asked["tag"], directory=asked.get("dir"))
    else:
        return False
    return True
