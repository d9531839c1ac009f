"""What keeps nodes from having room for pods that are pending: the pods that stay on the node with the least short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.model.text.amounts import amount_of
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.optimizer.arrays import Ints
from descheduler.plan.moves import identity_of
from descheduler.planner.problem.disposable_pods import disposable_pods

_MOST_COUNTED = 20
"""Of so many further nodes it is counted what keeps them from having room."""
_MOST_EXAMINED = 5
"""Of the nodes with the least short, so many are looked at for pods that the scheduler would place there again."""


class _Shortage(NamedTuple):
    """The resources, by row, of which a node has too little free for a pod, and how much is short of each."""

    node: str
    rows: Ints
    amounts: Ints


class RoomObstacles:
    """Says what blocks room on `nodes`, as things are booked; `returns` says of a pod why its eviction is in vain.

    `closed` are those of the nodes on which no plan places pods.
    """

    def __init__(
        self,
        handle: StrategyHandle,
        nodes: Collection[str],
        returns: Callable[[Pod], str],
        closed: Callable[[], frozenset[str]],
    ) -> None:
        self._evictor = handle.evictor
        self._view = handle.view
        self._nodes = nodes
        self._returns = returns
        self._is_disposable = disposable_pods(handle)
        self._closed = closed

    def of(self, pending: Pod) -> str:
        """What is short on the node that is nearest to having room for the pod, and which pod stays there, and why; of
        the other nodes how many are kept from having room by what.

        A node that only the scheduler's choice keeps from having room comes before the nearest one. Empty where no room
        helps, and where no pod that takes what is short is kept on that node.
        """
        shortages = self._shortages(pending)
        found = self._nearest_kept(pending, shortages)
        if found is None:
            return ""
        nearest, (pod, verdict) = found
        resources = self._evictor.prover().openings().resources
        amounts = zip(nearest.rows.tolist(), nearest.amounts.tolist(), strict=True)
        short = ", ".join(amount_of(resources[row], amount) for row, amount in amounts)
        others = self._others(pending, [each for each in shortages if each is not nearest])
        kept = f"where pod {pod.key} cannot be evicted: {verdict.message}"
        return f"{short} short on node {nearest.node}, {kept}{f'; {others}' if others else ''}"

    def _others(self, pending: Pod, shortages: Sequence[_Shortage]) -> str:
        """Such as `other nodes: 3 with pods that cannot be evicted (DisruptionBudget), 2 too small`; "" without any.

        `shortages` are those of all nodes but the nearest one.
        """
        openings = self._evictor.prover().openings()
        is_selected = np.array([name in self._nodes for name in openings.nodes], dtype=bool)
        is_ours = is_selected & ~np.isin(openings.nodes, list(self._closed()))
        found = openings.open_to_pending(pending)
        is_small = is_ours & (openings.need(pending.spec)[:, None] > openings.capacity).any(axis=0)
        is_closed = is_ours & ~is_small & (True if found is None else ~found.now)
        num_small, num_closed = int(is_small.sum()), int(is_closed.sum())
        examined = shortages[:_MOST_COUNTED]
        kept = [each for near in examined if (each := self._kept_on(near, pending)) is not None]
        codes = Counter(verdict.reason.code for _, verdict in kept if verdict.reason is not None)
        by_code = ", ".join(f"{number:,} {code}" if len(codes) > 1 else code for code, number in codes.most_common())
        texts = {
            f"with pods that cannot be evicted ({by_code})": len(kept),
            "where no plan was found": len(examined) - len(kept),
            "not examined": len(shortages) - len(examined),
            "too small": num_small,
            "closed to the pod": num_closed,
            "without enough devices": int(is_ours.sum()) - num_small - num_closed - len(shortages) - 1,
            "receiving no pods of the plan": int(is_selected.sum()) - int(is_ours.sum()),
            "not selected by the policy": len(openings.nodes) - int(is_selected.sum()),
        }
        counts = ", ".join(f"{number:,} {text}" for text, number in texts.items() if number > 0)
        return f"other nodes: {counts}" if counts else ""

    def why_kept(self, pod: Pod) -> str:
        """Why the pod cannot be evicted by itself, as things are booked; empty where it can."""
        with self._evictor.what_if():
            return self._asked_for(pod).message

    def _nearest_kept(
        self, pending: Pod, shortages: Sequence[_Shortage]
    ) -> tuple[_Shortage, tuple[Pod, Verdict]] | None:
        for near in shortages[:_MOST_EXAMINED]:
            if (returning := self._returning_on(near)) is not None:
                return near, returning
        kept = self._kept_on(shortages[0], pending) if shortages else None
        return None if kept is None else (shortages[0], kept)

    def _shortages(self, pending: Pod) -> Sequence[_Shortage]:
        """Of each node that could have room, the node with the smallest share of its capacity short first."""
        prover = self._evictor.prover()
        openings = prover.openings()
        found, need = openings.open_to_pending(pending), openings.need(pending.spec)[:, None]
        if found is None:
            return ()
        with prover.settled() as cluster:
            short = need - (cluster.table.allocatable - cluster.table.requested)
        short = np.where(need > 0, np.maximum(short, 0), 0)
        share = (short / np.maximum(openings.capacity, 1)).max(axis=0)
        is_near = found.now & (need <= openings.capacity).all(axis=0) & (share > 0)
        open_nodes = frozenset(self._nodes) - self._closed()
        near = [number for number in np.flatnonzero(is_near).tolist() if openings.nodes[number] in open_nodes]
        near.sort(key=lambda number: (share[number], openings.nodes[number]))
        rows = {number: np.flatnonzero(short[:, number]) for number in near}
        return [_Shortage(openings.nodes[number], rows[number], short[rows[number], number]) for number in near]

    def _returning_on(self, shortage: _Shortage) -> tuple[Pod, Verdict] | None:
        """A pod whose replacement the scheduler would place there again, and why, where that alone keeps room away."""
        takers = self._takers(shortage)
        found = ((pod, self._returns(pod)) for pod, _ in takers)
        returning = [(pod, refuse(Reason.RETURNS_TO_SOURCE, why)) for pod, why in found if why]
        if not returning:
            return None
        leaving = [amounts for pod, amounts in takers if self._returns(pod) or not self.why_kept(pod)]
        return returning[0] if (np.sum(leaving, axis=0) >= shortage.amounts).all() else None

    def _kept_on(self, shortage: _Shortage, pending: Pod) -> tuple[Pod, Verdict] | None:
        """The pod with most of what is short of those that stay, even if all leave that can; None if none has to."""
        takers = self._takers(shortage)
        with self._evictor.what_if():
            answers = [(pod, self._asked_for(pod)) for pod, _ in takers]
            waits = identity_of(pending) in map(identity_of, self._evictor.prover().still_pending())
        kept = ((pod, verdict) for pod, verdict in answers if not verdict.is_accepted)
        return next(kept, None) if waits else None

    def _takers(self, shortage: _Shortage) -> Sequence[tuple[Pod, Ints]]:
        """The pods of the node with what each takes of the resources that are short, those with most first."""
        openings = self._evictor.prover().openings()
        here = (pod for pod in self._view.active_pods_on(shortage.node) if not self._is_placed_by_plan(pod))
        found = [(pod, openings.need(pod.spec)[shortage.rows]) for pod in here]
        takers = [(pod, amounts) for pod, amounts in found if amounts.any()]
        return sorted(takers, key=lambda taker: taker[1].tolist(), reverse=True)

    def _is_placed_by_plan(self, pod: Pod) -> bool:
        return self._view.is_arrival(pod) or self._evictor.has_booked(pod)

    def _asked_for(self, pod: Pod) -> Verdict:
        """What is said of the eviction of `pod`, which is booked where nothing is said against it."""
        verdict = self._evictor.filter(pod)
        if not verdict.is_accepted:
            return verdict
        if text := self._returns(pod):
            return refuse(Reason.RETURNS_TO_SOURCE, text, pod.node_name)
        landing = self._evictor.predicted(pod)
        if landing.node is None and landing.replacement.pod is not None and not self._is_disposable(pod):
            return refuse(Reason.NO_LANDING, landing.message)
        return self._evictor.request(pod)
