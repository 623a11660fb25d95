"""Exceptions. Those of `claude_agent_sdk` have its names, bases, arguments and attributes."""

from typing import Any


class ClaudeSDKError(Exception):
    """The base of all exceptions of this package."""


class CLIConnectionError(ClaudeSDKError):
    """There is no connection to the CLI: it could not be started, or has gone."""


class CLINotFoundError(CLIConnectionError):
    """There is no CLI where one was looked for."""

    def __init__(self, message: str = "Claude Code not found", cli_path: str | None = None):
        super().__init__(f"{message}: {cli_path}" if cli_path else message)


class ProcessError(ClaudeSDKError):
    """The CLI has ended with a failure."""

    exit_code: int | None
    """Its exit status; negative is the signal that ended it."""
    stderr: str | None
    """The end of what it wrote to stderr."""

    def __init__(self, message: str, exit_code: int | None = None, stderr: str | None = None):
        self.exit_code = exit_code
        self.stderr = stderr
        if exit_code is not None:
            message += f" (exit code: {exit_code})"
        if stderr:
            message += f"\nError output: {stderr}"
        super().__init__(message)


class ResultError(ProcessError):
    """The last result was an error, and the CLI ended with it.

    Raised after that `ResultMessage` was delivered; its text is the exception's.
    """

    data: dict[str, Any]
    """The result as the CLI wrote it."""
    subtype: str | None
    """`error_max_turns`, `error_during_execution`, …; `success` where a call of the API failed."""
    errors: list[str]
    result: str | None
    api_error_status: int | None
    """The API's status, if a call of it failed."""
    terminal_reason: str | None
    """Why the turn ended (`api_error`, `max_turns`, …), if the CLI says."""
    session_id: str | None

    # Pickling rebuilds an exception from its message alone and then fills its attributes in.
    def __init__(
        self, message: str, data: dict[str, Any] | None = None, exit_code: int | None = None
    ):
        self.data = data if isinstance(data, dict) else {}
        self.subtype = self._text("subtype")
        self.errors = error_texts(self.data.get("errors"))
        self.result = self._text("result")
        status = self.data.get("api_error_status")
        self.api_error_status = status if isinstance(status, int) else None
        self.terminal_reason = self._text("terminal_reason")
        self.session_id = self._text("session_id")
        super().__init__(message, exit_code=exit_code)

    def _text(self, key: str) -> str | None:
        value = self.data.get(key)
        return value if isinstance(value, str) else None


def error_texts(raw: Any) -> list[str]:
    """The texts in `errors` of a result, which some CLIs write as one string."""
    texts = [raw] if isinstance(raw, str) else raw if isinstance(raw, list) else []
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


class CLIJSONDecodeError(ClaudeSDKError):
    """A line is not JSON, or longer than it may be."""

    def __init__(self, line: str, original_error: Exception):
        self.line = line
        self.original_error = original_error
        super().__init__(f"Failed to decode JSON: {line[:100]}...")


class MessageParseError(ClaudeSDKError):
    """A message lacks what messages of its type have."""

    def __init__(self, message: str, data: dict[str, Any] | None = None):
        self.data = data
        super().__init__(message)
