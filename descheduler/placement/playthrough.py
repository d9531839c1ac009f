"""A batch played through: its replacements placed one after another, as the scheduler takes them from its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple

import numpy as np

from descheduler.placement.attempts import Attempts, Picker, Placement, first_of_ties
from descheduler.placement.exploration import Assignment
from descheduler.placement.interplay import can_be_helped
from descheduler.placement.landing import Landing
from descheduler.placement.members import Member
from descheduler.placement.outcomes import landed
from descheduler.placement.pending import PendingPods
from descheduler.placement.scheduling import Choice, Evaluation
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["Play", "Player", "random_pick"]


class Play(NamedTuple):
    """How it went: where the placed members are, and those without a node, in the order in which they were tried."""

    nodes: Mapping[Member, int]
    landings: Mapping[Member, Landing]
    failed: tuple[Member, ...]


class Player:
    """Plays batches on one cluster, and leaves it as it is afterwards."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods, attempts: Attempts) -> None:
        self._cluster = cluster
        self._pending = pending
        self._attempts = attempts

    def play(self, members: Iterable[Member], pick: Picker = first_of_ties, *, with_pending: bool = True) -> Play:
        """Tries `members` by priority, those of the same one in the order given.

        Before each priority pending pods of at least that one are tried, unless not `with_pending`. Members that fail
        are tried again whenever another success may have helped them, as in the real queue.
        """
        nodes: dict[Member, int] = {}
        landings: dict[Member, Landing] = {}
        waiting: list[Member] = []
        hopeless = set()
        level: int | None = None
        for member in sorted(members, key=lambda each: -each.priority):
            if with_pending and member.priority != level:
                level = member.priority
                self._pending.place_after(None, level)
            if member.incoming in hopeless:
                waiting.append(member)
            elif self._place(member, pick, nodes, landings):
                while helped := next((m for m in waiting if self._is_helped(m, pick, nodes, landings)), None):
                    waiting.remove(helped)
            else:
                waiting.append(member)
                if not can_be_helped(member.pod.spec):
                    hopeless.add(member.incoming)
        return Play(nodes, landings, tuple(waiting))

    def follow(self, assignment: Assignment) -> Play:
        """Puts members on the nodes that `assignment` names, each as soon as its node takes it."""
        nodes: dict[Member, int] = {}
        landings: dict[Member, Landing] = {}
        waiting = list(assignment)
        while step := next(((m, node) for m, node in waiting if self._goes_to(m, node, nodes, landings)), None):
            waiting.remove(step)
        return Play(nodes, landings, tuple(member for member, _ in waiting))

    def _goes_to(self, member: Member, node: int, nodes: dict[Member, int], landings: dict[Member, Landing]) -> bool:
        evaluation = member.scheduler.evaluate(member.pod)
        if not evaluation.feasible[node]:
            return False
        conditions = self._attempts.settle(member.scheduler, evaluation, node)
        choice = Choice(node, 0, (node,), None, is_sampled=False)
        nodes[member] = node
        landings[member] = landed(member, Placement(node, choice, conditions), self._cluster, cold=None)
        return True

    def _is_helped(
        self, member: Member, pick: Picker, nodes: dict[Member, int], landings: dict[Member, Landing]
    ) -> bool:
        return can_be_helped(member.pod.spec) and self._place(member, pick, nodes, landings)

    def _place(self, member: Member, pick: Picker, nodes: dict[Member, int], landings: dict[Member, Landing]) -> bool:
        placement = self._attempts.place(member.scheduler, member.pod, pick).placement
        if placement is None:
            return False
        nodes[member] = placement.node
        landings[member] = landed(member, placement, self._cluster, cold=None)
        return True


def random_pick(generator: Random) -> Picker:
    """Picks any of the best nodes; where the scheduler does not look at all of them, the best of half of them.

    It looks at them from any node on, and how far is up to the number of nodes; half is what a small cluster has.
    """

    def pick(evaluation: Evaluation, choice: Choice) -> int:
        if not choice.is_sampled:
            return generator.choice(choice.ties)
        table = evaluation.scores()
        start = generator.randrange(len(table.nodes))
        seen = np.arange(start, start + (len(table.nodes) + 1) // 2) % len(table.nodes)
        best = seen[table.totals[seen] == table.totals[seen].max()]
        return int(table.nodes[generator.choice(best.tolist())])

    return pick
