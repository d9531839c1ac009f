"""Where a replacement may be in the end beside others: in every order and with every tie-break, as far as looked at.

Those before it are where they are predicted, and may get other nodes: the choice among the nodes with the best score is
unknown, and a pod that is scheduled before others has another choice. Beside a few others everything is looked
at, beside more of them some chances are played through. What that costs is bounded, for each question and for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, islice
from random import Random
from typing import NamedTuple

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import priority_of
from descheduler.placement.landings.deciding import free_pods
from descheduler.placement.landings.landing import Landing
from descheduler.placement.landings.open_choices import FreePod, holds_more_than_room
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_MOST_COST = 4_000
_MOST_NODES_SEEN = 500_000
_MOST_OF_ONE = 300
"""What evaluations for one replacement may cost; see `SchedulerModel.evaluation_cost`."""
_MOST_EXPLORED = 5
"""Pods of which all orders are looked at."""
_NUM_PLAYS = 4


class PossibleEnd(NamedTuple):
    """The node of a replacement, and those of others by their places among these; all are indices."""

    node: int
    others: Mapping[int, int]


class NamedEnd(NamedTuple):
    """The nodes on which a replacement may be, and those of others then: of replacements by their victims, where these
    are not the predicted ones, and of pending pods."""

    nodes: tuple[str, ...]
    others: tuple[tuple[Pod, str], ...]


class _Coming(NamedTuple):
    """A pod that looks for a node: of those with the lowest `turn` that fit any may be next.

    Pods of one `kind` are alike. `place` is that among the others, -1 of the replacement itself. `cost` is that of an
    evaluation.
    """

    place: int
    turn: tuple[bool, int]
    kind: object
    cost: int
    evaluate: Callable[[], PodEvaluation]


_OWN = -1
_Placed = tuple[tuple[_Coming, int], ...]
_Option = tuple[_Coming, PodEvaluation, tuple[int, ...]]


class EndSearch:
    """Looks at what else may happen on `cluster`, which it leaves as it is."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._left = min(_MOST_COST, _MOST_NODES_SEEN // max(1, len(cluster.table)))

    def _ends(self, unplaced: UnplacedReplacement, node: int, others: Sequence[FreePod]) -> Sequence[PossibleEnd]:
        """Where `unplaced`, which is predicted on `node`, and the `others` may be in the end.

        Pending ones of `others` are scheduled before replacements. Nothing is looked at where none of them has a node
        in common with `unplaced`.
        """
        free = [(place, each) for place, each in enumerate(others) if not holds_more_than_room(each.pod)]
        if not free:
            return ()
        look = _Look(self._cluster, min(_MOST_OF_ONE, self._left))
        with self._cluster.what_if(), suppress(_OverrunError):
            self._cluster.remove(unplaced.pod, node)
            for _, each in free:
                self._cluster.remove(each.pod, each.node)
            look.at(self._near(free, unplaced, look))
        self._left -= look.cost
        return look.found

    def _looks_at(self, unplaced: UnplacedReplacement) -> bool:
        """Not for pods that are placed together or get devices or volumes, and not without evaluations."""
        return self._left > 0 and not unplaced.unit and not holds_more_than_room(unplaced.pod)

    def by_name(
        self,
        landing: Landing,
        unplaced: UnplacedReplacement | None,
        pending: PendingPods,
        find_booked: Callable[[], Sequence[FreePod]],
    ) -> Iterator[NamedEnd]:
        """The prediction of `landing`, and what else may happen where its node is the scheduler's choice.

        `find_booked` gives the replacements that were placed before it. It is called where something else is looked at:
        they are as many as there are moves, which would be looked through for each move.
        """
        if landing.node is None:
            return
        names = self._cluster.table.names
        predicted = {id(each.pod): (each.pod, names[each.node]) for each in pending.placed}
        yield NamedEnd((landing.node, *landing.ties), tuple(predicted.values()))
        if unplaced is None or landing.cause or not self._looks_at(unplaced):
            return
        others = [*find_booked(), *free_pods(pending)]
        for end in self._ends(unplaced, self._cluster.table.index[landing.node], others):
            moved = ((others[place].source, names[node]) for place, node in end.others.items())
            nodes = {**predicted, **{id(source): (source, node) for source, node in moved}}
            yield NamedEnd((names[end.node],), tuple(nodes.values()))

    def _near(self, free: Sequence[tuple[int, FreePod]], unplaced: UnplacedReplacement, look: _Look) -> list[_Coming]:
        """The replacement, and those pods that have a node in common with it; all others are put back."""
        turn, cost = (True, -unplaced.priority), unplaced.scheduler.evaluation_cost
        own = _Coming(_OWN, turn, unplaced, cost, unplaced.evaluate)
        open_nodes, near = look.evaluated(own).feasible, [own]
        known: dict[object, bool] = {}
        for place, each in free:
            coming = self._coming(place, each)
            if coming.kind not in known:
                known[coming.kind] = bool((look.evaluated(coming).feasible & open_nodes).any())
            if known[coming.kind]:
                near.append(coming)
            else:
                self._cluster.add(each.pod, each.node)
        return near

    def _coming(self, place: int, free: FreePod) -> _Coming:
        turn = not free.is_pending, -priority_of(free.pod)
        kind = self._cluster.placement_class(free.pod)
        cost = free.scheduler.evaluation_cost
        return _Coming(place, turn, kind, cost, lambda: free.scheduler.evaluate_binding(free.pod))


class _OverrunError(Exception):
    """No more evaluations are left."""


class _Look:
    """What was found for one replacement, with evaluations that cost at most so much."""

    def __init__(self, cluster: ShadowCluster, most: int) -> None:
        self._cluster, self._most = cluster, most
        self.cost = 0
        self.found: list[PossibleEnd] = []
        self._seen: set[object] = set()

    def evaluated(self, coming: _Coming) -> PodEvaluation:
        """What the filters say of a pod. Raises _OverrunError."""
        if self.cost >= self._most:
            raise _OverrunError
        self.cost += coming.cost
        return coming.evaluate()

    def at(self, pods: Sequence[_Coming]) -> None:
        """Notes everything that may happen to few `pods`; of more of them, or where that is too much, some chances.

        Raises _OverrunError.
        """
        if len(pods) == 1 or (len(pods) <= _MOST_EXPLORED and self._has_seen_all(pods)):
            return
        for seed in range(_NUM_PLAYS):
            self._follow(pods, (), Random(seed))  # noqa: S311 - the same every time

    def _has_seen_all(self, pods: Sequence[_Coming]) -> bool:
        """Whether half of the evaluations are enough for everything."""
        most, self._most = self._most, self._most // 2
        try:
            self._follow(pods, ())
        except _OverrunError:
            return False
        finally:
            self._most = most
        return True

    def _follow(self, waiting: Sequence[_Coming], placed: _Placed, chance: Random | None = None) -> None:
        """Notes the ends that are reached once `placed` are there; by `chance` one of them."""
        if chance is None and not self._is_new(placed):
            return
        options = list(self._options(waiting, chance))
        if not options:
            nodes = {each.place: node for each, node in placed}
            if _OWN in nodes:
                self.found.append(PossibleEnd(nodes.pop(_OWN), nodes))
        for coming, evaluation, ties in options:
            rest = [each for each in waiting if each is not coming]
            for node in ties if chance is None else [chance.choice(ties)]:
                with self._cluster.what_if():
                    put_on_node(evaluation, node)
                    self._follow(rest, (*placed, (coming, node)), chance)

    def _is_new(self, placed: _Placed) -> bool:
        state = tuple(sorted((id(each.kind), node) for each, node in placed))
        is_new = state not in self._seen
        self._seen.add(state)
        return is_new

    def _options(self, waiting: Sequence[_Coming], chance: Random | None) -> Iterator[_Option]:
        """The pods that may be placed next, one of each kind, with their best nodes; by `chance` one of them."""
        by_turn = sorted(waiting, key=lambda each: each.turn)
        for _, turn in groupby(by_turn, key=lambda each: each.turn):
            kinds = {each.kind: each for each in turn}
            found = self._fitting(kinds.values() if chance is None else _drawn(kinds.values(), chance))
            options = list(found) if chance is None else list(islice(found, 1))
            if options:
                yield from options
                return

    def _fitting(self, pods: Iterable[_Coming]) -> Iterator[_Option]:
        """Those that some node takes."""
        for coming in pods:
            evaluation = self.evaluated(coming)
            choice = evaluation.choose() if evaluation.fits else None
            if choice is not None:
                yield coming, evaluation, choice.ties


def _drawn(pods: Iterable[_Coming], chance: Random) -> Iterator[_Coming]:
    """`pods` as they are drawn one after the other."""
    left = list(pods)
    while left:
        yield left.pop(chance.randrange(len(left)))
