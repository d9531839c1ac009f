"""The part of an `Explanation` about a gang: a PodGroup, or pods that name a gang."""

from __future__ import annotations

from typing import Literal

import msgspec

from descheduler.report.document import Fields, PodReference
from descheduler.report.explanation.placement import PlacementAnalysis
from descheduler.report.explanation.pod import GangFacts

__all__ = ["GangMember", "PodGroupExplanation"]


class GangMember(Fields, frozen=True):
    """A pod of the gang. `node` is null while it is unbound."""

    pod: PodReference
    node: str | None
    phase: str
    is_terminating: bool = msgspec.field(name="terminating")


class PodGroupExplanation(Fields, frozen=True):
    """Everything about one gang. `source` says what states its minimum: a PodGroup of
    the API group `api_group`, its pods, or neither.

    `num_spare` is how many of its running pods it does not need, null without a minimum. `others` are the other gangs
    of its group. `placement` is that of its first pending pod with the other pending ones, null without any; `notes`
    say why the gang does not run.
    """

    facts: GangFacts
    source: Literal["PodGroup", "pods", "none"]
    api_group: str
    num_spare: int | None = msgspec.field(name="spare")
    members: tuple[GangMember, ...]
    others: tuple[GangFacts, ...]
    placement: PlacementAnalysis | None
    notes: tuple[str, ...]
