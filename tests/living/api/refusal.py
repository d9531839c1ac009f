"""A request that the API server refuses, and the `Status` that says so."""

from __future__ import annotations

from typing import Any

from tests.faults.faults import Answer, status_body
from tests.faults.wire import json_answer
from tests.living.resources import Resource


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """Ends the request with this status; `cause` words a DisruptionBudget."""

    def __init__(
        self, code: int, reason: str, message: str, *, wait_seconds: int | None = None, cause: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.body: dict[str, Any] = status_body(code, reason, message, wait_seconds=wait_seconds, cause=cause)
        self._wait_seconds = wait_seconds

    @property
    def answer(self) -> Answer:
        """The answer with the status."""
        waits = {} if self._wait_seconds is None else {"Retry_After": str(self._wait_seconds)}
        return json_answer(self.code, self.body, **waits)


def not_found(resource: Resource, name: str) -> Refused:
    """There is no such object."""
    return Refused(404, "NotFound", f'{resource.qualified} "{name}" not found')


def already_exists(resource: Resource, name: str) -> Refused:
    """The name is taken."""
    return Refused(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists')


def conflict(resource: Resource, name: str, why: str) -> Refused:
    """The object is not as the caller thought."""
    return Refused(409, "Conflict", f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}')


def invalid(resource: Resource, name: str, why: str) -> Refused:
    """The object cannot be like that."""
    return Refused(422, "Invalid", f'{resource.kind}.{resource.group} "{name}" is invalid: {why}')
