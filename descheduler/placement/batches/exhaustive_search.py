"""Small batches explored in full: every order and every tie, or every node that takes a pod.

States are told apart by which placement classes are on which nodes, so that replicas are interchangeable, and by what
ledgers hold, which the order may decide; none is looked at twice. A budget of evaluations bounds the work.

Relocation lets others of a batch make way for replacements that a sequential run left without a node. No scheduler does
that. What is found shows that an assignment exists, which another order of events may reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster

Assignment = tuple[tuple[UnplacedReplacement, int], ...]
"""Members and the nodes they go to, in an order in which one after the other is taken."""

MOST_EVALUATIONS = 4_000
_MOST_NODES_SEEN = 2_000_000


class OutOfBudgetError(Exception):
    """There is too much to explore."""


class _Search:
    """What both explorations share: the cluster, which they leave as it is, and the budget."""

    def __init__(self, cluster: ShadowCluster, most_evaluations: int = MOST_EVALUATIONS) -> None:
        self._cluster = cluster
        self._num_left = min(most_evaluations, _MOST_NODES_SEEN // max(1, len(cluster.table)))
        self._seen: set[object] = set()

    def _is_new(self, placed: Assignment) -> bool:
        where = tuple(sorted((id(unplaced.placement_class), node) for unplaced, node in placed))
        state = where, self._cluster.ledger_digest()
        is_new = state not in self._seen
        self._seen.add(state)
        return is_new

    def _evaluated(
        self, replacements: Sequence[UnplacedReplacement], unplaced_ones: Sequence[UnplacedReplacement]
    ) -> Iterator[tuple[UnplacedReplacement, PodEvaluation]]:
        """The first of `replacements` of each class, and what the filters say of it."""
        classes = set[PlacementClass]()
        for unplaced in replacements:
            if unplaced.placement_class not in classes:
                classes.add(unplaced.placement_class)
                if not self._num_left:
                    raise OutOfBudgetError
                self._num_left -= 1
                num_left = sum(unplaced.unit == other.unit for other in unplaced_ones) if unplaced.unit else 0
                yield unplaced, unplaced.evaluate(unit_is_begun=num_left < len(unplaced.unit))


class OrderSearch(_Search):
    """Looks for an order, with tie-breaks, in which the scheduler leaves replacements without a node."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods, most_evaluations: int = MOST_EVALUATIONS) -> None:
        super().__init__(cluster, most_evaluations)
        self._pending = pending

    def stuck(
        self, replacements: Sequence[UnplacedReplacement], placed: Assignment = ()
    ) -> tuple[UnplacedReplacement, ...]:
        """Those left over in the first such order that is found; none when all land in every order.

        Of the replacements that fit one of the highest priority is next, and goes to any node that scores best. Raises
        OutOfBudgetError, also when the scheduler would not look at every node.
        """
        if not replacements or not self._is_new(placed):
            return ()
        with self._cluster.what_if():
            options = self._next(replacements)
            if not options:
                return tuple(replacements)
            for unplaced, evaluation, ties in options:
                rest = tuple(other for other in replacements if other is not unplaced)
                for node in ties:
                    with self._cluster.what_if():
                        put_on_node(evaluation, node)
                        left = self.stuck(rest, (*placed, (unplaced, node)))
                    if left:
                        return left
        return ()

    def _next(
        self, replacements: Sequence[UnplacedReplacement]
    ) -> list[tuple[UnplacedReplacement, PodEvaluation, tuple[int, ...]]]:
        """The replacements that may be placed next, with their best nodes."""
        levels = sorted({unplaced.priority for unplaced in replacements}, reverse=True)
        if any(unplaced.scheduler.doubt(unplaced.pod, DoubtOf.ORDER) for unplaced in replacements) and (
            len(levels) > 1 or self._pending.placed or self._pending.waiting()
        ):
            raise OutOfBudgetError  # nobody knows who goes first
        for level in levels:
            self._pending.place_after(None, level)
            options = []
            same_level = [each for each in replacements if each.priority == level]
            for unplaced, evaluation in self._evaluated(same_level, replacements):
                choice = evaluation.choose()
                if choice is not None and choice.is_sampled and not choice.cause:
                    raise OutOfBudgetError
                if choice is not None:
                    options.append((unplaced, evaluation, choice.ties))
            if options:
                return options
        return []


class AssignmentSearch(_Search):
    """Looks for an assignment of replacements to nodes, whatever the scheduler prefers."""

    def find(self, replacements: Sequence[UnplacedReplacement], placed: Assignment = ()) -> Assignment | None:
        """An assignment that is reached by placing one after the other where it fits; None when there is none.

        Raises OutOfBudgetError.
        """
        if not replacements:
            return placed
        if not self._is_new(placed):
            return None
        options = [(unplaced, evaluation) for unplaced, evaluation in self._evaluated(replacements, replacements)]
        if not any(unplaced.can_be_helped for unplaced in replacements):
            # Placements only ever take nodes away, so each has to be placed, and the order does not matter.
            options = [min(options, key=lambda option: len(option[1].nodes))]
        for unplaced, evaluation in options:
            rest = tuple(other for other in replacements if other is not unplaced)
            for node in evaluation.nodes.tolist():
                with self._cluster.what_if():
                    put_on_node(evaluation, node)
                    found = self.find(rest, (*placed, (unplaced, node)))
                if found is not None:
                    return found
        return None


_MOST_TRIES = 200
_DEPTHS = (1, 2)


class Relocation:
    """One relocation on `cluster`, in which the replacements of `placed` are. Leaves the cluster changed."""

    def __init__(self, cluster: ShadowCluster, placed: Mapping[UnplacedReplacement, Placed]) -> None:
        self._cluster = cluster
        self._placed = dict(placed)
        self._num_left = _MOST_TRIES

    def assignment(
        self, failed: Sequence[UnplacedReplacement], open_nodes: Mapping[UnplacedReplacement, BoolMask]
    ) -> Assignment | None:
        """An assignment of all replacements, once each of `failed` has a place; None when that was not brought about.

        `open_nodes` are those that each of `failed` may ever go to. Whether there is an order in which the scheduler
        comes to that is for the caller to try.
        """
        for unplaced in failed:
            if not any(self._makes_room(unplaced, open_nodes[unplaced], depth) for depth in _DEPTHS):
                return None
        return tuple((unplaced, placed.node) for unplaced, placed in self._placed.items())

    def _makes_room(self, unplaced: UnplacedReplacement, open_nodes: BoolMask, depth: int) -> bool:
        for node, movers in self._movers(open_nodes, depth):
            if not self._num_left:
                return False
            self._num_left -= 1
            with self._cluster.what_if() as trial:
                places = self._swapped(unplaced, node, movers)
                if places is not None:
                    trial.keep()
                    self._placed.update(places)
                    return True
        return False

    def _swapped(
        self, unplaced: UnplacedReplacement, node: int, movers: Sequence[UnplacedReplacement]
    ) -> dict[UnplacedReplacement, Placed] | None:
        """New places of `unplaced` and of those that leave `node` for it."""
        for mover in movers:
            self._cluster.take_off(self._placed[mover])
        evaluation = unplaced.evaluate()
        if not evaluation.feasible[node]:
            return None
        places = {unplaced: put_on_node(evaluation, node).placed}
        for mover in movers:
            placement = mover.place().placement
            if placement is None:
                return None
            places[mover] = placement.placed
        return places

    def _movers(self, open_nodes: BoolMask, depth: int) -> Iterator[tuple[int, tuple[UnplacedReplacement, ...]]]:
        """Nodes, and replacements there that may be moved; of equal ones one stands for all."""
        by_node: dict[int, list[UnplacedReplacement]] = {}
        for unplaced, placed in self._placed.items():
            if open_nodes[placed.node]:
                by_node.setdefault(placed.node, []).append(unplaced)
        for node, replacements in by_node.items():
            seen = set()
            for movers in combinations(replacements, depth):
                classes = tuple(id(mover.placement_class) for mover in movers)
                if classes not in seen:
                    seen.add(classes)
                    yield node, movers
