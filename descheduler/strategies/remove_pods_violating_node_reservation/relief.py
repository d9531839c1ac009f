"""Evicting from one node what occupies reserved resources, no more than it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.koordinator.classes import importance
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit, Reason, Verdict, refuse
from descheduler.strategies.remove_pods_violating_node_reservation.reserving_node import (
    ReservingNode,
    enough_of,
    held_by,
    requests_any,
)


class AnsweredRequests(NamedTuple):
    """What was answered about pods, in order, and the limit that ended it, None where it was none of the node or the
    run."""

    answers: Sequence[tuple[Pod, Verdict]]
    limit: EvictionLimit | None


def postpone(
    evictor: PluginEvictor, node: ReservingNode, candidates: Sequence[Pod], stuck: Iterable[Pod], why: str
) -> AnsweredRequests:
    """Notes what `relieve` would say of `candidates`; for those that it would evict, `why` they are not evicted yet.

    Returns what `relieve` would.
    """
    with evictor.what_if():
        relief = relieve(evictor, node, candidates, stuck)
    for pod, verdict in relief.answers:
        waits = refuse(Reason.TOO_FEW_OBSERVATIONS, why, node.name) if verdict.is_accepted else verdict
        evictor.keep(pod, waits, node.reason(pod))
    return relief


def relieve(
    evictor: PluginEvictor, node: ReservingNode, candidates: Sequence[Pod], stuck: Iterable[Pod]
) -> AnsweredRequests:
    """Asks for evictions among `candidates` of `node`.

    All pods that are pinned to reserved CPUs are asked for, among equally important ones those with the most such CPUs
    first. Then come as few others as free what is still short, of the resources that the pods that cannot leave
    (`stuck`) leave room for. After a refusal the rest is chosen from again.
    """
    requests = _Requests(evictor, node)
    pinned = [pod for pod in candidates if node.overlap(pod)]
    requests.ask(sorted(pinned, key=lambda pod: importance(pod, lambda pod: -len(node.overlap(pod)))))
    amounts = node.shortage.reducible(stuck)
    others = requests.keep_in_vain([pod for pod in candidates if not node.overlap(pod)], amounts)
    left = requests.left_of(amounts)
    if left:
        cover = node.shortage.cover(left)
        others.sort(key=lambda pod: importance(pod, lambda pod: -cover(pod)))
    while requests.limit is None and (chosen := enough_of(others, left)):
        requests.ask(chosen)
        asked = set(map(id, chosen))
        others = [pod for pod in others if id(pod) not in asked]
        left = requests.left_of(amounts)
    return AnsweredRequests(requests.answers, requests.limit)


class _Requests:
    """The requests for one node, and what was answered. `limit` is that of the node or the run, once it is reached."""

    def __init__(self, evictor: PluginEvictor, node: ReservingNode) -> None:
        self._evictor = evictor
        self._node = node
        self.answers: list[tuple[Pod, Verdict]] = []
        self.limit: EvictionLimit | None = None

    def ask(self, pods: Iterable[Pod]) -> None:
        """Asks for `pods` in order, until a limit is reached."""
        for pod in pods:
            verdict = self._evictor.pre_eviction_filter(pod)
            if verdict.is_accepted:
                verdict = self._evictor.request(pod, self._node.reason(pod))
                self.answers.append((pod, verdict))
            else:
                self._keep(pod, verdict)
            if verdict.limit in (EvictionLimit.NODE, EvictionLimit.TOTAL):
                self.limit = verdict.limit
                return

    def keep_in_vain(self, pods: Iterable[Pod], amounts: Mapping[str, int]) -> list[Pod]:
        """The `pods` that free some of `amounts`; that the others would leave for nothing is noted."""
        useful: list[Pod] = []
        for pod in pods:
            if requests_any(pod, amounts):
                useful.append(pod)
            else:
                message = f"pods of node {self._node.name} that cannot be evicted exceed what the reservation leaves"
                self._keep(pod, refuse(Reason.IRREDUCIBLE_SHORTAGE, message, self._node.name))
        return useful

    def left_of(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """The part of `amounts` that is not free yet, after the evictions that were granted."""
        gone = (pod for pod, verdict in self.answers if verdict.is_accepted)
        freed = [held_by(pod) for pod in gone if id(pod) not in self._node.owners]
        left = {name: nano - sum(each.get(name, 0) for each in freed) for name, nano in amounts.items()}
        return {name: nano for name, nano in left.items() if nano > 0}

    def _keep(self, pod: Pod, verdict: Verdict) -> None:
        self._evictor.keep(pod, verdict, self._node.reason(pod))
        self.answers.append((pod, verdict))
