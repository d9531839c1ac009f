"""Small batches explored in full: every order and every tie, or every node that takes a pod.

States are told apart by which placement classes are on which nodes, so that replicas are interchangeable, and by what
ledgers hold, which the order may decide; none is looked at twice. A budget of evaluations bounds the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["MOST_EVALUATIONS", "Assignment", "AssignmentSearch", "OrderSearch", "OutOfBudgetError"]

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
