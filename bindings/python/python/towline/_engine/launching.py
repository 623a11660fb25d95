"""From the options of a program to what the native module starts."""

import json
from typing import TYPE_CHECKING, Any

from .._version import __version__

if TYPE_CHECKING:
    from .._options import Launch

dumps = json.JSONEncoder(separators=(",", ":")).encode


class Start:
    """The attributes that the native module reads."""

    __slots__ = (
        "bridged",
        "document",
        "elicitation",
        "hooks",
        "other",
        "permission",
        "sdk_version",
        "servers",
        "stderr",
        "trace_context",
        "unknown",
    )

    def __init__(self, launch: "Launch") -> None:
        document: dict[str, Any] = launch.document
        if launch.dialogs:
            document = {**document, "supported_dialog_kinds": list(launch.dialogs)}
        self.document = dumps(document)
        self.permission = launch.permission is not None
        self.hooks = [
            (hook.event, hook.matcher, hook.timeout, hook.on_failure) for hook in launch.hooks
        ]
        self.servers = [server.definition(name) for name, server in launch.servers.items()]
        self.bridged = list(launch.bridged)
        self.elicitation = launch.elicitation is not None
        self.other = launch.other is not None
        self.stderr = launch.stderr is not None
        self.unknown = launch.unknown_messages
        self.trace_context = launch.trace_context
        self.sdk_version = __version__
