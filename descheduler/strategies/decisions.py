"""What one cycle decided, with everything that the report says about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.evictor import Evictor
from descheduler.policy.types import Policy
from descheduler.strategies.profiles import PluginFailure

__all__ = ["Decisions"]


@dataclass(frozen=True, slots=True)
class Decisions:
    """The book of one cycle over `snapshot` at `now`.

    `skipped` says why no plugin ran, else it is empty; `notes` are sentences about the policy that operators must see.
    """

    policy: Policy
    snapshot: Snapshot
    evictor: Evictor
    now: datetime
    failures: tuple[PluginFailure, ...] = ()
    skipped: str = ""
    notes: tuple[str, ...] = ()
