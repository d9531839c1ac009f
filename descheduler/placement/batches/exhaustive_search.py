"""Small batches explored in full: every order and every tie, or every node that takes a pod.

States are told apart by which placement classes are on which nodes, so that replicas are interchangeable, and by what
ledgers hold, which the order may decide; none is looked at twice. A budget of evaluations bounds the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.placement.framework.evaluation import Evaluation
from descheduler.placement.framework.feasibility import put_on_node
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["Assignment", "AssignmentSearch", "OrderSearch", "OutOfBudgetError"]

Assignment = tuple[tuple[UnplacedReplacement, int], ...]
"""Members and the nodes they go to, in an order in which one after the other is taken."""

_MOST_EVALUATIONS = 4_000
_MOST_NODES_SEEN = 2_000_000


class OutOfBudgetError(Exception):
    """There is too much to explore."""


class _Search:
    """What both explorations share: the cluster, which they leave as it is, and the budget."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._num_left = min(_MOST_EVALUATIONS, _MOST_NODES_SEEN // max(1, len(cluster.table)))
        self._seen: set[object] = set()

    def _is_new(self, placed: Assignment) -> bool:
        where = tuple(sorted((id(member.placement_class), node) for member, node in placed))
        state = where, self._cluster.ledger_digest()
        is_new = state not in self._seen
        self._seen.add(state)
        return is_new

    def _evaluated(self, members: Sequence[UnplacedReplacement]) -> Iterator[tuple[UnplacedReplacement, Evaluation]]:
        """The first member of each class, and what the filters say of it."""
        classes = set[PlacementClass]()
        for member in members:
            if member.placement_class not in classes:
                classes.add(member.placement_class)
                if not self._num_left:
                    raise OutOfBudgetError
                self._num_left -= 1
                yield member, member.scheduler.evaluate(member.pod)


class OrderSearch(_Search):
    """Looks for an order, with tie-breaks, in which the scheduler leaves members without a node."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods) -> None:
        super().__init__(cluster)
        self._pending = pending

    def stuck(self, members: Sequence[UnplacedReplacement], placed: Assignment = ()) -> tuple[UnplacedReplacement, ...]:
        """Members left over in the first such order that is found; none when all land in every order.

        Of the members that fit one of the highest priority is next, and goes to any node that scores best. Raises
        OutOfBudgetError, also when the scheduler would not look at every node.
        """
        if not members or not self._is_new(placed):
            return ()
        with self._cluster.what_if():
            options = self._next(members)
            if not options:
                return tuple(members)
            for member, evaluation, ties in options:
                rest = tuple(other for other in members if other is not member)
                for node in ties:
                    with self._cluster.what_if():
                        put_on_node(member.scheduler, evaluation, node)
                        left = self.stuck(rest, (*placed, (member, node)))
                    if left:
                        return left
        return ()

    def _next(
        self, members: Sequence[UnplacedReplacement]
    ) -> list[tuple[UnplacedReplacement, Evaluation, tuple[int, ...]]]:
        """The members that may be placed next, with their best nodes."""
        for level in sorted({member.priority for member in members}, reverse=True):
            self._pending.place_after(None, level)
            options = []
            for member, evaluation in self._evaluated([each for each in members if each.priority == level]):
                choice = evaluation.choose()
                if choice is not None and choice.is_sampled:
                    raise OutOfBudgetError
                if choice is not None:
                    options.append((member, evaluation, choice.ties))
            if options:
                return options
        return []


class AssignmentSearch(_Search):
    """Looks for an assignment of members to nodes, whatever the scheduler prefers."""

    def find(self, members: Sequence[UnplacedReplacement], placed: Assignment = ()) -> Assignment | None:
        """An assignment that is reached by placing one member after the other where it fits; None when there is none.

        Raises OutOfBudgetError.
        """
        if not members:
            return placed
        if not self._is_new(placed):
            return None
        options = [(member, evaluation) for member, evaluation in self._evaluated(members)]
        if not any(member.can_be_helped for member in members):
            # Placements only ever take nodes away, so each member has to be placed, and the order does not matter.
            options = [min(options, key=lambda option: len(option[1].nodes))]
        for member, evaluation in options:
            rest = tuple(other for other in members if other is not member)
            for node in evaluation.nodes.tolist():
                with self._cluster.what_if():
                    put_on_node(member.scheduler, evaluation, node)
                    found = self.find(rest, (*placed, (member, node)))
                if found is not None:
                    return found
        return None
