"""The package's version."""

__version__ = "0.1.0"

COMPATIBLE_WITH = "0.2.189"
"""The version of `claude_agent_sdk` whose names and behaviour are those of this package."""
