"""Landings: what becomes of the replacement of an evicted pod, alone and in a batch.

Every answer has two clocks. *Cold* is while the victim is terminating: it holds its room, its ports and its claims,
and affinity still sees it. *Settled* is once it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:  # who only asks for a verdict must not pay for numpy
    from descheduler.model.pod import Pod
    from descheduler.placement.framework.matched_reservations import Allocation
    from descheduler.placement.framework.obstacle import Obstacle
    from descheduler.placement.replacements.replacement import Replacement


class LandingVerdict(Enum):
    """Whether a replacement finds a node."""

    LANDS = "lands"
    """It does, whatever else is in play."""
    LANDS_IF = "lands_if"
    """It can, under a condition that the scheduler does not guarantee: the order, a tie, a competitor, a volume."""
    LIKELY = "likely"
    """Every modelled filter passes on some node, and the scheduler checks something that is not modelled."""
    UNKNOWN = "unknown"
    """The snapshot cannot tell, for a cause that is named: a resource claim, a pod template that was not read."""
    NO = "no"
    """It cannot, or no way was found."""


UNPROVEN: tuple[Literal[LandingVerdict.LIKELY, LandingVerdict.UNKNOWN], ...] = (
    LandingVerdict.LIKELY,
    LandingVerdict.UNKNOWN,
)
"""Those that have a cause: what was not checked, or is not known."""
_GRAVITY = {verdict: index for index, verdict in enumerate(LandingVerdict)}


def worst(verdicts: Iterable[LandingVerdict]) -> LandingVerdict:
    """The gravest of `verdicts`, `LANDS` when there are none; a proven no is graver than what cannot be told."""
    return max(verdicts, key=_GRAVITY.__getitem__, default=LandingVerdict.LANDS)


class Landing(msgspec.Struct, frozen=True, gc=False):
    """Where the replacement of `victim` binds, or why it does not.

    `verdict` is that of the settled clock; `cold` is `NO` where the replacement has to wait until the victim is gone.
    `node` is the predicted node, None without one; any of `ties` is as likely. `total` is its score, `margin` the lead
    over the best node that is no tie (None without any other). With `is_sampled` the scheduler stops before it has
    seen every node, so that the node is a guess and only feasibility is certain; with `is_open` some scores are not
    known, and `ties` are all nodes that may be the best; `open_cause` says why nothing is known of the choice, so that
    they are all that pass. `conditions` are sentences that come with `LANDS_IF` and `LIKELY`; `message` is one sentence
    for `LIKELY`, `UNKNOWN` and `NO`, and for an open choice; `obstacles` maps each reason to the number of nodes
    that it closes. `cause` names what was not checked, for `LIKELY` and `UNKNOWN`: the same words for every pod that it
    concerns, so that they are counted. `allocations` are what plugins take by name on `node` for the replacement, such
    as devices, and `patch` the annotations by which they note that. `refusal` is what keeps it from all nodes before
    one is looked at, such as a quota; None for any other no. `only_return` says why no other node takes it where only
    that of the victim does, and is empty otherwise. `preemption` says of a no where the scheduler would preempt pods of
    lower priority for it, and which; it is empty where it would not, or where that was not asked.
    """

    victim: Pod
    replacement: Replacement
    verdict: LandingVerdict
    cold: LandingVerdict
    node: str | None = None
    ties: tuple[str, ...] = ()
    total: int = 0
    margin: int | None = None
    is_sampled: bool = False
    is_open: bool = False
    open_cause: str = ""
    conditions: tuple[str, ...] = ()
    message: str = ""
    obstacles: Mapping[str, int] = msgspec.field(default_factory=dict)
    cause: str = ""
    allocations: tuple[Allocation, ...] = ()
    patch: Mapping[str, str] = msgspec.field(default_factory=dict)
    refusal: Obstacle | None = None
    only_return: str = ""
    preemption: str = ""

    @property
    def returns_to_source(self) -> bool:
        """Whether the scheduler prefers the node that the victim leaves to all others."""
        return self.ties == (self.victim.node_name,)

    def under(self, condition: str) -> Landing:
        """The same where it hangs on `condition` as well; the gravest of both."""
        verdict, cold = (worst((each, LandingVerdict.LANDS_IF)) for each in (self.verdict, self.cold))
        conditions = (*self.conditions, condition)
        return msgspec.structs.replace(self, verdict=verdict, cold=cold, conditions=conditions)


class JointVerdict(msgspec.Struct, frozen=True):
    """Whether the replacements of a whole batch land together.

    `landings` are those of the victims, in their order, as the scheduler places them in that order; where only another
    order or assignment lands them all, they are those of that one. `certificate` is the proof of a no: one sentence,
    empty where none was found. `num_orders` says how many orders were played through. Where it `is_proven` that all
    land in every order, these stand for all.
    """

    verdict: LandingVerdict
    landings: tuple[Landing, ...]
    cold: LandingVerdict
    conditions: tuple[str, ...] = ()
    certificate: str = ""
    num_orders: int = 1
    is_proven: bool = False
