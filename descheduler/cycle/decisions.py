"""From the evictor's book to values: nothing above eviction holds an evictor."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy

__all__ = ["decisions_of"]


def decisions_of(evictor: Evictor, policy: Policy, snapshot: Snapshot, now: datetime) -> Decisions:
    """What `evictor` has booked and refused so far, with the landings that are known by now."""
    book, landings = evictor.book, evictor.landings
    return Decisions(
        policy,
        snapshot,
        now,
        moves=_landed(book.moves, landings),
        background=_landed(book.background, landings),
        num_background=evictor.num_background,
        refusals=book.refusals,
        results=dict(book.results),
        is_verified=landings.is_verifying,
    )


def _landed(moves: Iterable[Move], landings: LandingBook) -> tuple[Move, ...]:
    """The moves with the landings that are known by now."""
    known = ((move, landings.landing_of(move.pod)) for move in moves)
    return tuple(move if landing is None else replace(move, landing=landing) for move, landing in known)
