"""What happens besides the program and its calls, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.faults.faults import Requests


class Event(StrEnum):
    """What happens to the program or to the cluster in mid-run."""

    SIGTERM = "SIGTERM"
    SIGINT = "SIGINT"
    SIGKILL = "SIGKILL"
    PAUSE = "stopped until a rival has the Lease"
    LEASE_SEIZED = "Lease seized"
    LEASE_DELETED = "Lease deleted"
    TOKEN_ROTATED = "token rotated"
    PODS_DELETED = "pods deleted by others"
    JOBS_DELETED = "jobs deleted by others"
    ROOMS_DELETED = "rooms deleted by others"
    RECORDS_DELETED = "jobs and rooms deleted by others"
    JOBS_CHANGED = "jobs changed by others"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """`event` happens `delay_seconds` after the `nth` request of a kind in the first run has come.

    Without a kind it is the nth call that changes anything.
    """

    event: Event
    after: Requests | None
    nth: int = 1
    delay_seconds: float = 0.0
