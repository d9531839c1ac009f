"""The error that ends a command."""

from __future__ import annotations

from descheduler.cli.ending.exit_code import ExitCode

__all__ = ["CommandError"]


class CommandError(Exception):
    """One sentence for the operator, and how the command ends."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code
