"""What the fake API server can be told to do instead of answering as it should."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """This status, body and header fields."""

    status_code: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Truncate:
    """The right answer, cut after so many bytes, with the Content-Length of the whole."""

    keep_bytes: int = 20


@dataclass(frozen=True)
class BrokenGzip:
    """An answer that claims to be gzip and is not."""


@dataclass(frozen=True)
class Drop:
    """The connection closes without any answer; nothing was done."""


@dataclass(frozen=True)
class EvictThenDrop:
    """The pod is evicted, and the connection closes without any answer."""


@dataclass(frozen=True)
class EvictThenAnswer:
    """The pod is evicted, and the answer says something else."""

    answer: Answer


@dataclass(frozen=True)
class EvictThenClearText:
    """The pod is evicted, and what comes over the TLS connection is not TLS, as of a balancer that gives up."""


@dataclass(frozen=True)
class EvictLate:
    """The pod is evicted, and the call answered, after so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Silence:
    """What was asked for is done, and the connection stays open without any answer."""


@dataclass(frozen=True)
class Drip:
    """The right answer, a byte every so many seconds."""

    pause_seconds: float = 0.1


@dataclass(frozen=True)
class RawAnswer:
    """These bytes, header included, with a pause after each part, and the end of the connection; nothing was done."""

    parts: Callable[[], Iterable[bytes]]
    pause_seconds: float = 0.0


Fault = (
    Answer
    | Truncate
    | BrokenGzip
    | Drop
    | EvictThenDrop
    | EvictThenAnswer
    | EvictThenClearText
    | EvictLate
    | Silence
    | Drip
    | RawAnswer
)


def failure(
    status_code: int,
    reason: str = "",
    message: str = "",
    *,
    causes: tuple[tuple[str, str], ...] = (),
    retry_after_seconds: int | None = None,
) -> Answer:
    """A `Status` as the API server writes it, with the Retry-After field when a wait is asked for."""
    details: dict[str, Any] = {}
    if causes:
        details["causes"] = [{"reason": cause, "message": text} for cause, text in causes]
    if retry_after_seconds is not None:
        details["retryAfterSeconds"] = retry_after_seconds
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": status_code,
    }
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    return Answer(status_code, body, headers)


def budget_refusal(budget: str) -> Answer:
    """No disruption is allowed now: no Retry-After."""
    cause = f"The disruption budget {budget} needs 3 healthy pods and has 3 currently"
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    return failure(429, "TooManyRequests", text, causes=(("DisruptionBudget", cause),))


def budget_unobserved(budget: str, seconds: int = 10) -> Answer:
    """The budget's controller has not seen its newest generation: come back later."""
    cause = f"The disruption budget {budget} is still being processed by the server."
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    return failure(429, "TooManyRequests", text, causes=(("DisruptionBudget", cause),), retry_after_seconds=seconds)


def several_budgets() -> Answer:
    """Two budgets select the pod."""
    text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    return failure(500, "", text)


def evacuation() -> Answer:
    """A webhook has started a live migration instead."""
    text = "admission webhook denied the request: Eviction triggered evacuation of VMI"
    return failure(429, "TooManyRequests", text)
