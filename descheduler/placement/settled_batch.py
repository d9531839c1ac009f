"""A batch of replacements once all their victims are gone: does it land, in every order, in some, or in none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

import numpy as np

from descheduler.placement.alone import is_loose, look_alone
from descheduler.placement.attempts import Picker, first_of_ties
from descheduler.placement.certificates import certificate
from descheduler.placement.exploration import Assignment, AssignmentSearch, OrderExploration, OutOfBudgetError
from descheduler.placement.landing import Landing, LandingVerdict
from descheduler.placement.members import Member
from descheduler.placement.outcomes import not_landed
from descheduler.placement.pending import Competitor, PendingPods
from descheduler.placement.playthrough import Play, Player, random_pick
from descheduler.placement.repair import Repair
from descheduler.placement.rivals import rival_condition
from descheduler.placement.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["Finding", "SettledBatch"]

_NUM_SHUFFLES = 3
_MOST_SHUFFLED = 100
"""Members of a batch up to which it is shuffled as well."""
_MOST_EXPLORED = 8
_MOST_SEARCHED = 12

_UNLUCKY = "in some orders of the replacements, or by some breaking of ties, no node is left for it"
_OTHER_ORDER = "it lands only when the replacements come in another order than the evictions"
_OTHER_CHOICE = "it lands only where the scheduler puts others on nodes that it does not prefer"
_EXHAUSTED = "an exhaustive search over the orders and nodes of the batch found no assignment"


class Finding(NamedTuple):
    """The landings of a batch by the settled clock, and what is known of it as a whole."""

    landings: dict[Member, Landing]
    certificate: str = ""
    num_orders: int = 1


class _Way(NamedTuple):
    """A play that lands all members, and the conditions under which it comes to that."""

    landings: dict[Member, Landing]
    conditions: tuple[str, ...]


class SettledBatch:
    """Judges `members` on `cluster`, which their victims have left. The cluster is left as it is."""

    def __init__(self, members: Sequence[Member], cluster: ShadowCluster, pending: PendingPods) -> None:
        self._cluster = cluster
        self._pending = pending
        self._player = Player(cluster, pending)
        alone = look_alone(members)
        unknown = LandingVerdict.UNKNOWN
        self._undecided = [member for member in members if alone[member.incoming].verdict is unknown]
        self._members = [member for member in members if alone[member.incoming].verdict is not unknown]
        self._alone = alone
        self._num_orders = 0
        self._is_exhausted = False

    def finding(self) -> Finding:
        """The landings of all members; JointProof says what the verdicts mean."""
        refused = {m: not_landed(m, m.scheduler.evaluate(m.pod), cold=None) for m in self._undecided}
        with self._cluster.what_if():
            if refused:
                index = self._cluster.table.index
                for member in refused:  # their victims stand in for them
                    self._cluster.add(member.victim, index.get(member.victim.node_name, NO_NODE))
                self._alone = look_alone(self._members)
            landings, proof = self._of_decided()
        return Finding({**landings, **refused}, proof, self._num_orders)

    def _of_decided(self) -> tuple[dict[Member, Landing], str]:
        with self._cluster.what_if():
            num_placed = len(self._pending.placed)
            play = self._play(self._members)
            rivals = self._pending.placed[num_placed:]
            refused = {m: not_landed(m, m.scheduler.evaluate(m.pod), cold=None) for m in play.failed}
        if not refused:
            is_certain = not rivals and is_loose(self._members, self._alone, self._cluster)
            return self._doubted(play, () if is_certain else self._unlucky()), ""
        way = self._way(rivals)
        if way is None:
            return {**play.landings, **refused}, self._proof()
        return {
            m: _under(way.conditions, way.landings[m]) if m in refused else way.landings[m] for m in self._members
        }, ""

    def _unlucky(self) -> tuple[Member, ...]:
        """Members that find no node in some order; those of the first one found where all of them are looked at."""
        if len(self._members) <= _MOST_EXPLORED:
            try:
                with self._cluster.what_if():
                    return OrderExploration(self._cluster, self._pending).stuck(self._members)
            except OutOfBudgetError:
                pass
        failed = [play.failed for play in self._plays(with_pending=True)]
        return tuple(dict.fromkeys(member for members in failed for member in members))

    def _way(self, rivals: Sequence[Competitor]) -> _Way | None:
        """Some way in which all members land, the likeliest first; None when none was found."""
        conditions = (rival_condition(rivals[0]),) if rivals else ()
        way = self._way_beside_pending(conditions)
        if way is None and self._pending.placed:
            with self._cluster.what_if():
                conditions = (rival_condition(self._pending.placed[-1]),)
                self._pending.lift(np.ones(len(self._cluster.table), dtype=bool))
                way = self._way_beside_pending(conditions)
        return way

    def _way_beside_pending(self, conditions: tuple[str, ...]) -> _Way | None:
        """A way without any more pending pods than those that are placed now."""
        if conditions:
            with self._cluster.what_if():
                play = self._play(self._members, with_pending=False)
            if not play.failed:
                return _Way(dict(play.landings), conditions)
        for play in self._plays(with_pending=False):
            if not play.failed:
                return _Way(dict(play.landings), (*conditions, _OTHER_ORDER))
        assignment = self._assignment()
        if assignment is None:
            return None
        with self._cluster.what_if():
            play = self._player.follow(assignment)
        return None if play.failed else _Way(dict(play.landings), (*conditions, _OTHER_CHOICE))

    def _assignment(self) -> Assignment | None:
        """Nodes for all members, found by search where there are few of them, else by repair."""
        self._is_exhausted = False
        if len(self._members) <= _MOST_SEARCHED:
            try:
                with self._cluster.what_if():
                    found = AssignmentSearch(self._cluster).find(self._members)
                self._is_exhausted = found is None
                return found
            except OutOfBudgetError:
                pass
        with self._cluster.what_if():
            play = self._play(self._hardest_first(), with_pending=False)
            open_nodes = {member: self._alone[member.incoming].open for member in play.failed}
            return Repair(self._cluster, play.placed).assignment(play.failed, open_nodes)

    def _proof(self) -> str:
        with self._cluster.what_if():
            self._pending.lift(np.ones(len(self._cluster.table), dtype=bool))
            proof = certificate(self._members, look_alone(self._members), self._cluster)
        return proof or (_EXHAUSTED if self._is_exhausted else "")

    def _plays(self, *, with_pending: bool) -> Iterator[Play]:
        """The batch in other orders: the reverse one, the hardest first and, unless it is large, a few shuffled."""
        orders: list[tuple[Sequence[Member], Picker]] = [
            (self._members[::-1], first_of_ties),
            (self._hardest_first(), first_of_ties),
        ]
        for seed in range(_NUM_SHUFFLES if len(self._members) <= _MOST_SHUFFLED else 0):
            generator = Random(seed)  # noqa: S311 - the same every time
            orders.append((generator.sample(self._members, len(self._members)), random_pick(generator)))
        for members, pick in orders:
            with self._cluster.what_if():
                play = self._play(members, pick, with_pending=with_pending)
            yield play

    def _play(self, members: Sequence[Member], pick: Picker = first_of_ties, *, with_pending: bool = True) -> Play:
        self._num_orders += 1
        return self._player.play(members, pick, with_pending=with_pending)

    def _hardest_first(self) -> list[Member]:
        return sorted(self._members, key=lambda member: int(self._alone[member.incoming].feasible.sum()))

    def _doubted(self, play: Play, unlucky: Sequence[Member]) -> dict[Member, Landing]:
        doubted = {member: _under((_UNLUCKY,), play.landings[member]) for member in unlucky}
        return {**play.landings, **doubted}


def _under(conditions: tuple[str, ...], landing: Landing) -> Landing:
    """`landing` with further conditions."""
    conditional = LandingVerdict.LANDS_IF
    return replace(
        landing,
        verdict=conditional,
        cold=conditional,
        settled=conditional,
        conditions=(*landing.conditions, *conditions),
    )
