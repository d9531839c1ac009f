"""What each placement class of a batch would find were it alone: all victims gone, and no other replacement there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework import BoolMask
from descheduler.placement.incoming import Incoming
from descheduler.placement.interplay import Crowd, bear_widely
from descheduler.placement.landing import LandingVerdict
from descheduler.placement.members import Member
from descheduler.placement.obstacles import Obstacles, open_for_good, refusal_sentence
from descheduler.placement.outcomes import verdict_of
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["Alone", "is_loose", "look_alone"]

_HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """The answer for one class: `feasible` nodes, those `open` to it for good, and those it `may` get.

    The last are the ones that no plugin refuses but those which other members of the batch may appease. `refusal` is
    a sentence where there is no such node. `credit` is the room that the class gets on top of what is free.
    """

    verdict: LandingVerdict
    feasible: BoolMask
    open: BoolMask
    may: BoolMask
    refusal: str
    credit: Mapping[int, NDArray[np.int64]]


def look_alone(members: Iterable[Member]) -> dict[Incoming, Alone]:
    """The answers for the classes of `members`, with the cluster as it is now."""
    found: dict[Incoming, Alone] = {}
    for member in members:
        if member.incoming not in found:
            found[member.incoming] = _alone(member)
    return found


def is_loose(members: list[Member], alone: dict[Incoming, Alone], cluster: ShadowCluster) -> bool:
    """Whether every order lands every member, because each has more nodes than the others can ever close to it.

    Where placements bear on the node alone that they are on, each of the others closes one node at most.
    """
    hosts = cluster.table.label(_HOSTNAME)
    if len(hosts.values) != int((hosts.ids >= 0).sum()):
        return False
    if any(int(each.feasible.sum()) < len(members) for each in alone.values()):
        return False
    number_by_class = Counter(member.incoming for member in members)
    scheduler_by_class = {member.incoming: member.scheduler for member in members}
    return not bear_widely(
        [Crowd(each.pod, number, scheduler_by_class[each].interplay) for each, number in number_by_class.items()]
    )


def _alone(member: Member) -> Alone:
    evaluation = member.scheduler.evaluate(member.pod)
    is_open = open_for_good(member.scheduler, evaluation)
    may = evaluation.feasible
    helpers = member.scheduler.interplay.helpers(member.pod)
    if helpers and not evaluation.refusals:
        may = is_open & ~Obstacles(evaluation).of_others(helpers)
    refusal = ""
    if not may.any():
        refusal = refusal_sentence(Obstacles(evaluation).counts(), len(may))
    return Alone(verdict_of(evaluation), evaluation.feasible, is_open, may, refusal, evaluation.cycle.credit)
