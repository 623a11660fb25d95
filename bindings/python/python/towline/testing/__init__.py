"""What whoever extends Towline tests with. No test framework is needed."""

from .stores import run_session_store_conformance

__all__ = ["run_session_store_conformance"]
