"""From the evictor's book to values: nothing above eviction holds an evictor."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.evictor import Evictor
from descheduler.plan.decisions import Decisions
from descheduler.policy.types import Policy

__all__ = ["decisions_of"]


def decisions_of(evictor: Evictor, policy: Policy, snapshot: Snapshot, now: datetime) -> Decisions:
    """What `evictor` has booked and refused so far, with the landings that are known by now."""
    book, landings = evictor.book, evictor.landings
    return Decisions(
        policy,
        snapshot,
        now,
        moves=tuple(replace(move, landing=landings.landing_of(move.pod)) for move in book.moves),
        background=tuple(replace(move, landing=landings.landing_of(move.pod)) for move in book.background),
        num_background=evictor.num_background,
        refusals=book.refusals,
        results=dict(book.results),
        is_verified=landings.is_verifying,
    )
