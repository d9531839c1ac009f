"""Whether a Lease that somebody else holds is to be respected."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum

from descheduler.kube.leases.store import LeaseSpec
from descheduler.model.text.printable import clipped

__all__ = ["CLOCK_ALLOWANCE_SECONDS", "Claim", "believable_seconds", "shown_holder", "weigh_claim"]

CLOCK_ALLOWANCE_SECONDS = 10
"""For clocks that disagree."""

_LONGEST_SECONDS = 24 * 60 * 60
"""The longest duration that is believed, unless this run's own is longer: a batch job renews every third of it, and
no run waits longer for one that died."""

_LONGEST_SHOWN = 100


class Claim(Enum):
    """What a Lease says of its holder."""

    UNSET = "unset"
    """Never seen."""
    FREE = "free"
    """It is free: without a holder, or expired."""
    HELD = "held"
    """Its holder is alive, as far as its times say."""
    DOUBTFUL = "doubtful"
    """Its times cannot be true: whether the holder is alive shows only when it renews."""


def believable_seconds(spec: LeaseSpec, own_seconds: int) -> int:
    """The duration of the Lease in seconds; `own_seconds`, that of this run, where it cannot be meant."""
    found = max(0, spec.lease_duration_seconds or 0)
    return found if found <= max(_LONGEST_SECONDS, own_seconds) else own_seconds


def weigh_claim(spec: LeaseSpec, now: datetime, own_seconds: int) -> Claim:
    """How `spec` is to be taken at `now`, an aware time, by a run whose own Lease lasts `own_seconds`.

    A renewal that lies further ahead than the duration and the allowance for clocks is not believed, nor is a duration
    above a day: respected as they stand, they would keep every other run away for years.
    """
    renewed_seconds = spec.renewed_seconds
    if not spec.holder_identity or renewed_seconds is None:
        return Claim.FREE
    duration_seconds = believable_seconds(spec, own_seconds)
    patience_seconds = duration_seconds + CLOCK_ALLOWANCE_SECONDS
    age_seconds = _since_epoch(now) - renewed_seconds
    if age_seconds >= patience_seconds:
        return Claim.FREE
    is_believable = duration_seconds == max(0, spec.lease_duration_seconds or 0) and -age_seconds <= patience_seconds
    return Claim.HELD if is_believable else Claim.DOUBTFUL


def shown_holder(text: str | None) -> str:
    """A text of somebody else's for a message: on one line, without what does not print, and not too long."""
    return clipped(text, _LONGEST_SHOWN) if text else "an unnamed holder"


def _since_epoch(at: datetime) -> float:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
