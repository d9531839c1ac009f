"""The document `Plan`: every decision of one cycle, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.report.document import ApiVersion, Fields, PodReference, PolicyIdentity, SnapshotIdentity
from descheduler.report.figures import Figures

__all__ = ["BackgroundEviction", "Failure", "Move", "Plan", "PlannedRefusal", "PluginFigures", "RefusalCount"]


class Move(Fields, frozen=True):
    """A pod that leaves its node, in the order in which moves are decided.

    `to_node` is where its replacement lands, null when that was not verified. `wave` numbers the moves that run
    together, from 1. `is_repeated` marks a further request for a pod that an earlier move evicts already.
    """

    pod: PodReference
    from_node: str = msgspec.field(name="from")
    to_node: str | None = msgspec.field(name="to")
    profile: str
    plugin: str
    reason: str
    wave: int
    is_repeated: bool = msgspec.field(name="repeated")


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

    `refused` counts answers by reason code. A pod that is judged several times counts each time, here only.
    """

    profile: str
    plugin: str
    evicted: int
    background: int
    refused: Mapping[str, int]


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
