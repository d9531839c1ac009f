"""The document `Plan`: every decision of one cycle, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.report.document import ApiVersion, Fields, PodReference, PolicyIdentity, SnapshotIdentity
from descheduler.report.facts import PluginFacts
from descheduler.report.figures import Figures

__all__ = [
    "BackgroundEviction",
    "Failure",
    "LandingTotals",
    "Move",
    "Plan",
    "PlannedLanding",
    "PlannedRefusal",
    "PluginFigures",
    "RefusalCount",
]


class Move(Fields, frozen=True):
    """A pod that leaves its node, in the order in which moves are decided.

    `to_node` is where its replacement lands, null when it lands nowhere or when that was not looked up; `landing` says
    how sure that is. `wave` numbers the moves that run
    together, from 1. `is_repeated` marks a further request for a pod that an earlier move evicts already.
    """

    pod: PodReference
    from_node: str = msgspec.field(name="from")
    to_node: str | None = msgspec.field(name="to")
    landing: PlannedLanding | None
    profile: str
    plugin: str
    reason: str
    wave: int
    is_repeated: bool = msgspec.field(name="repeated")


class PlannedLanding(Fields, frozen=True):
    """What becomes of the pod that the owner creates instead.

    `verdict` is lands, lands_if (under `conditions`), no or unknown, and `message` says why for the last two. `cold`
    is the verdict while the evicted pod is still ending, `settled` once it is gone. `nodes` are those that the
    scheduler ranks first together with `to`; `margin` is their lead over the next one, null without any.
    `returns_to_source` is set when the scheduler would take the node again that the pod leaves.
    """

    verdict: Literal["lands", "lands_if", "no", "unknown"]
    cold: Literal["lands", "lands_if", "no", "unknown"]
    settled: Literal["lands", "lands_if", "no", "unknown"]
    nodes: tuple[str, ...]
    margin: int | None
    returns_to_source: bool
    conditions: tuple[str, ...]
    message: str


class LandingTotals(Fields, frozen=True):
    """Landings of the evicted pods by verdict, each pod once. `num_assessed` of them were looked up at all.

    `not_created` of those that land need no room, as nothing comes back for them: their owner has enough pods without.
    `is_verified` tells a policy whose evictions are all refused when they cannot land from one in which some profile
    evicts regardless.
    `together` is the verdict on all of them at once, whatever order they come in, under `conditions`; null where that
    was not judged. `certificate` is the proof of a no.
    """

    is_verified: bool = msgspec.field(name="verified")
    num_evicted: int = msgspec.field(name="evicted")
    num_assessed: int = msgspec.field(name="assessed")
    lands: int
    lands_if: int
    no: int
    unknown: int
    returns_to_source: int
    not_created: int
    together: Literal["lands", "lands_if", "no", "unknown"] | None
    conditions: tuple[str, ...]
    certificate: str


class BackgroundEviction(Fields, frozen=True):
    """A pod whose eviction another controller would carry out."""

    pod: PodReference
    node: str
    profile: str
    plugin: str
    reason: str


class PlannedRefusal(Fields, frozen=True):
    """A pod that a plugin wanted gone and that stays. `subject` names the object at fault.

    `is_attempt` tells an eviction that was asked for, which a limit, a budget or the API stands against, from a
    candidate that was not even asked for.
    """

    pod: PodReference
    node: str
    profile: str
    plugin: str
    code: str
    message: str
    subject: str
    is_attempt: bool = msgspec.field(name="attempt")


class RefusalCount(Fields, frozen=True):
    """How many entries of `refusals` have one reason, and what the reason means."""

    code: str
    summary: str
    num_refusals: int = msgspec.field(name="count")
    num_attempts: int = msgspec.field(name="attempts")


class PluginFigures(Fields, frozen=True):
    """What one plugin of one profile asked for and got.

    `refused` counts answers by reason code. A pod that is judged several times counts each time, here only. `facts` are
    null for a plugin that could not work.
    """

    profile: str
    plugin: str
    evicted: int
    background: int
    refused: Mapping[str, int]
    facts: PluginFacts | None


class Failure(Fields, frozen=True):
    """A plugin that could not work in this cycle."""

    profile: str
    plugin: str
    message: str


class Plan(Fields, frozen=True):
    """Everything one cycle decided. `now` is the instant that all ages were taken at.

    `skipped` says why no plugin ran, and is empty when they did. `num_background` counts the evictions in
    `background` and those that other controllers had begun before.
    """

    api_version: ApiVersion
    kind: Literal["Plan"]
    now: datetime
    policy: PolicyIdentity
    snapshot: SnapshotIdentity
    skipped: str
    moves: tuple[Move, ...]
    landings: LandingTotals
    background: tuple[BackgroundEviction, ...]
    num_background: int
    refusals: tuple[PlannedRefusal, ...]
    refusal_counts: tuple[RefusalCount, ...]
    plugins: tuple[PluginFigures, ...]
    figures: Figures
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]

    @property
    def evicted(self) -> tuple[Move, ...]:
        """The moves without repeated requests: one for each pod that leaves."""
        return tuple(move for move in self.moves if not move.is_repeated)
