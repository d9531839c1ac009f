"""What one cycle decided, with everything that the report says about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.plan.facts import PluginFacts
from descheduler.plan.moves import Move, Refusal
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.policy.types import Policy

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import JointVerdict


class BeyondLimits(msgspec.Struct, frozen=True):
    """What planning on without the limits that stopped plugins came to.

    `cut_off` has an entry a pod that would be evicted without them, and names the limit that blocks it;
    `refusals` are of pods that stay without them as well. Not `is_whole` when planning ended before all was asked for.
    """

    cut_off: tuple[Refusal, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    is_whole: bool = True


NOTHING_BEYOND = BeyondLimits()
"""Of a run that no limit stopped."""


SUCCESS, BACKGROUND = "success", "background"
"""Answers to requests that were granted; those to all others are reason codes."""


class Failure(Fields, frozen=True):
    """A plugin that failed in this cycle."""

    profile: str
    plugin: str
    message: str


class Decisions(msgspec.Struct, frozen=True):
    """The decisions of one cycle over `snapshot` at `now`, in the order in which they were taken.

    `moves` has an entry a granted request. `background` are evictions that another controller carries out;
    `num_background` counts those found in progress as well. `refusals` are refused requests in order, then candidates
    that were not asked for; `beyond` is what planning on without limits came to, which changes no decision. `results`
    counts the answers to each (profile, plugin): `SUCCESS`, `BACKGROUND` or a reason code.

    `together` tells whether all landings hold together in any order, None where that was not judged; `is_verified`
    whether every profile verifies where replacements land. `facts` are by (profile, plugin), without plugins that
    failed or that tell none. `skipped` says why no plugin ran, else it is empty; `memory` is what the run leaves for
    the next one; `notes` are sentences about the policy that operators must see.
    """

    policy: Policy
    snapshot: Snapshot
    now: datetime
    moves: tuple[Move, ...] = ()
    background: tuple[Move, ...] = ()
    num_background: int = 0
    refusals: tuple[Refusal, ...] = ()
    beyond: BeyondLimits = NOTHING_BEYOND
    results: Mapping[tuple[str, str, str], int] = msgspec.field(default_factory=dict)
    together: JointVerdict | None = None
    is_verified: bool = False
    failures: tuple[Failure, ...] = ()
    facts: Mapping[tuple[str, str], PluginFacts] = msgspec.field(default_factory=dict)
    skipped: str = ""
    memory: RunMemory = NO_MEMORY
    notes: tuple[str, ...] = ()

    @property
    def leaving(self) -> tuple[Move, ...]:
        """The moves without repeated requests: one for each pod that leaves."""
        return tuple(move for move in self.moves if not move.is_repeated)
