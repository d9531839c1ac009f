"""What can go wrong with one request: what the server really does, what it answers, and how the answer is sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Requests(StrEnum):
    """The kinds of requests that faults are drawn for."""

    DISCOVERY = "discovery"
    LIST = "list"
    POD = "pod"
    EVICTION = "eviction"
    LEASE = "lease"
    EVENT = "event"
    SECRET = "secret"
    PROMETHEUS = "prometheus"
    JOB = "job"
    JOB_CREATE = "job create"
    JOB_PATCH = "job patch"
    JOB_STATUS = "job status"
    JOB_DELETE = "job delete"
    ROOM = "room"
    ROOM_CREATE = "room create"
    ROOM_DELETE = "room delete"
    MAP = "config map"
    MAP_WRITE = "config map write"
    POD_WRITE = "pod write"


class Act(StrEnum):
    """What becomes of the request itself, whatever is answered."""

    NEVER = "never"
    """It is not carried out."""
    AT_ONCE = "at once"
    """It is carried out before anything is answered."""
    LATE = "late"
    """It is carried out some time after it came, unless its own `timeout` has passed by then."""


class Form(StrEnum):
    """How a refusal is worded."""

    STATUS = "Status"
    STATUS_WITH_WAIT = "Status, Retry-After"
    TEXT = "plain text"
    TEXT_WITH_WAIT = "plain text, Retry-After"


class Delivery(StrEnum):
    """How an answer travels."""

    WHOLE = "whole"
    RESET = "connection reset"
    SILENT = "no answer"
    TRUNCATED = "cut in the middle"
    SHORT_LENGTH = "Content-Length too small"
    LONG_LENGTH = "Content-Length too large"
    DRIPPING = "one byte at a time"
    BOMB = "200 MB in a small gzip"


class Lie(StrEnum):
    """Answers with a success code that are not what was asked for."""

    WRONG_JSON = "not JSON"
    NESTED = "nested 1,000 levels deep"
    NULL_ITEMS = "items: null"
    FAILURE_STATUS = "Status with 200"
    OTHER_KIND = "another kind of list"
    PARTIAL = "206"
    ENDLESS = "continue token without end"
    DONE = "Status Success"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it stands in HTTP; `body` is JSON in bytes, or text."""

    code: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `code` 0 and no `lie` leave the honest answer.

    `late_seconds` is when a late act happens and `delay_seconds` when the answer starts, both from the arrival of the
    request; `wait_seconds` is what Retry-After asks for.
    """

    act: Act = Act.AT_ONCE
    code: int = 0
    form: Form = Form.STATUS
    lie: Lie | None = None
    delivery: Delivery = Delivery.WHOLE
    delay_seconds: float = 0.0
    late_seconds: float = 0.0
    wait_seconds: int = 1

    @property
    def name(self) -> str:
        """What the table calls it."""
        parts = [str(self.code)] if self.code else []
        parts += [self.form] if self.code else []
        parts += [self.lie] if self.lie else []
        parts += [self.delivery] if self.delivery is not Delivery.WHOLE else []
        parts += ["slow"] if self.delay_seconds else []
        effect = {Act.NEVER: "no effect", Act.AT_ONCE: "after the effect", Act.LATE: "late effect"}[self.act]
        return f"{', '.join(parts) or 'honest'} ({effect})"


def status_body(
    code: int, reason: str, message: str, *, wait_seconds: int | None = None, cause: str = ""
) -> dict[str, Any]:
    """A `Status` as an API server writes it; `cause` words a DisruptionBudget."""
    details: dict[str, Any] = {}
    if wait_seconds is not None:
        details["retryAfterSeconds"] = wait_seconds
    if cause:
        details["causes"] = [{"reason": "DisruptionBudget", "message": cause}]
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
