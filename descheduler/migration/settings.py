"""How a plan is carried out: pace, limits, patience."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.eviction.checks.limits import RunLimits


class Pace(msgspec.Struct, frozen=True):
    """So many evictions a second on average, so many at once."""

    qps: float
    burst: int

    def __post_init__(self) -> None:
        if not self.qps > 0:
            raise ValueError(f"qps is {self.qps}, it must be above 0")
        if self.burst < 1:
            raise ValueError(f"burst is {self.burst}, at least 1 is needed")


class ClosingTime(msgspec.Struct, frozen=True):
    """From `at`, in seconds of the run's monotonic clock, or `on`, an aware time of day, a profile evicts nothing more;
    `why` says so.

    The first of the two clocks decides. The one may stand still while the machine is suspended, and the other may be
    set back.
    """

    at: float
    on: datetime
    why: str

    def has_come(self, now: float, on: datetime) -> bool:
        """Whether it is that late at `now` of the one clock and `on` by the other."""
        return now >= self.at or on >= self.on


class EvictionTerms(msgspec.Struct, frozen=True):
    """What holds for the evictions of one profile; None is what holds for the whole run.

    Those of a dry profile are not sent, nor those that are left at its `closing`.
    """

    grace_period_seconds: int | None = None
    is_dry: bool = False
    pace: Pace | None = None
    closing: ClosingTime | None = None


class DispatchSettings(msgspec.Struct, frozen=True):
    """How a plan is carried out.

    `qps` and `burst` pace every call, calls made again included, of the profiles that have no pace of their own among
    the `terms`, which are by profile; `max_in_flight` calls may wait for their answer at once, so that latency does not
    cap the pace. `deadline` is in the seconds of the run's monotonic clock, None for none: no call starts at or after
    it. An answer that asks to wait for `longest_wait_seconds` at most is obeyed, for a plain eviction up to
    `max_retries` times a pod; a call without answer is made again up to `max_fault_retries` times, after
    `fault_wait_seconds`. While no connection can be made at all, so that nothing is sent, calls are tried again after
    the same waits until that has lasted for `longest_outage_seconds`: a server that restarts is back by then. A server
    that turns all calls away as too many is waited for as long.
    `effect_seconds` after its start a call without a clear answer can no longer take effect: the time that the server
    was told it may spend, and an allowance. `drain_seconds` bounds the wait for calls in flight once the run stops or
    is out of time.
    """

    qps: float = 5.0
    burst: int = 10
    max_in_flight: int = 64
    grace_period_seconds: int | None = None
    evictions_in_background: bool = False
    limits: RunLimits = msgspec.field(default_factory=RunLimits)
    deadline: float | None = None
    max_retries: int = 10
    longest_wait_seconds: float = 60.0
    max_fault_retries: int = 2
    fault_wait_seconds: float = 1.0
    longest_outage_seconds: float = 60.0
    effect_seconds: float = 40.0
    drain_seconds: float = 3.0
    terms: Mapping[str, EvictionTerms] = msgspec.field(default_factory=dict)

    def terms_of(self, profile: str) -> EvictionTerms:
        """What holds for the evictions of a profile."""
        return self.terms.get(profile) or EvictionTerms()

    def why_closed(self, profile: str, now: float, on: datetime) -> str:
        """Why evictions of a profile may not be made any more at `now` of the run's clock and `on`, an aware time of
        day; "" while they may."""
        closing = self.terms_of(profile).closing
        return closing.why if closing is not None and closing.has_come(now, on) else ""

    def has_closed(self, now: float, on: datetime) -> bool:
        """Whether any profile evicts nothing more then."""
        return any(self.why_closed(profile, now, on) for profile in self.terms)

    def __post_init__(self) -> None:
        Pace(self.qps, self.burst)  # raises what is to be said of both
        if self.max_in_flight < 1:
            raise ValueError(f"max_in_flight is {self.max_in_flight}, at least 1 is needed")


class JobSettings(msgspec.Struct, frozen=True):
    """At most `most_active` jobs are under way at once; the patience with the API server is that of evictions."""

    eviction: DispatchSettings
    most_active: int = 100
    most_errors: int = 10
    """So many looks at one job in a row may fail."""
    budget_wait_seconds: float = 5.0
    """Between two tries to evict a pod that a budget protects now."""
    budget_seconds: float = 120.0
    """For so long an eviction is asked for again that a budget refuses."""
    undo_share: float = 1 / 3
    """Of the time for calls in flight, what undoing takes at most once they have had theirs: the run has to end."""
    adopted_seconds: float = 120.0
    """For so long a job of an earlier run or a user is looked at that does not change."""
    landing_seconds: float = 120.0
    """For so long the replacement of a pod is looked for, for which no room was held."""


class JobStorage(msgspec.Struct, frozen=True):
    """Where jobs are kept: as PodMigrationJobs, or as ConfigMaps of `namespace`.

    `owner` tells those of one policy, in this run and the next; it may be the value of a label. Jobs of
    users are for runs of the whole cluster, or else for its `is_first_shard`.
    """

    owner: str
    namespace: str
    in_objects: bool
    is_first_shard: bool = True
