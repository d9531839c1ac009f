"""Preemption as a hint: where a replacement that does not land would push out pods of lower priority, and which.

That is no landing, since it moves the problem to another workload. What is said here is what an operator has to expect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.text.counted import first_names
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.framework.scheduler_model import DoubtOf, priority_of, queue_order
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_MOST_NODES = 20
_MOST_NAMED = 3


def preemption_hint(unplaced: UnplacedReplacement, cluster: ShadowCluster, gone: Collection[int]) -> str:
    """The first node found on which preemption makes room for `unplaced`, and whose pods leave, as a sentence; empty
    when none was found.

    A scheduler with rules of its own says so itself. `gone` are the identities of pods of the snapshot that are not on
    `cluster` any more; the victim is one of them.
    A scheduler that preempts no pod has no such node. All pods of lower priority leave the node for that, and then
    those stay, of the highest priority first, beside which the pod fits all the same; and twenty nodes at most are
    tried. For a pod that plugins refuse before nodes are looked at, such as for its quota, only those leave that these
    plugins would evict.
    """
    evaluation = unplaced.evaluate()
    if evaluation.fits or not evaluation.is_queued:
        return ""
    if found := unplaced.scheduler.evicted_for(evaluation):
        name = cluster.table.names[found.node]
        return f"it would be scheduled onto {name} if {_named(found.pods)} {found.what} there"
    if not unplaced.scheduler.preempts(unplaced.pod):
        return ""
    for node in _helpable(unplaced, evaluation):
        name = cluster.table.nodes[node].name
        lower = [
            pod
            for pod in cluster.snapshot.pods_by_node.get(name, ())
            if _is_lower(pod, unplaced, gone) and evaluation.may_preempt(pod)
        ]
        preempted = _preempted(lower, unplaced, node, cluster) if lower else []
        if preempted:
            doubt = unplaced.scheduler.doubt(unplaced.pod, DoubtOf.PREEMPTION)
            beside = f", which is unknown: {doubt}" if doubt else ""
            return f"it would be scheduled onto {name} if {_named(preempted)} preempted there{beside}"
    return ""


def _helpable(unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> Iterator[int]:
    """Nodes against which there is nothing that preemption could not change."""
    if evaluation.refusals:
        yield from range(min(len(evaluation.feasible), _MOST_NODES))
        return
    candidates = np.flatnonzero(evaluation.open_for_good())[:_MOST_NODES]
    for node in candidates.tolist():
        if all(obstacle.code is Code.UNSCHEDULABLE for obstacle in evaluation.obstacles_on(node)):
            yield node


def _is_lower(pod: Pod, unplaced: UnplacedReplacement, gone: Collection[int]) -> bool:
    return not pod.is_terminal and id(pod) not in gone and priority_of(pod) < unplaced.priority


def _preempted(lower: Sequence[Pod], unplaced: UnplacedReplacement, node: int, cluster: ShadowCluster) -> list[Pod]:
    """The pods of `lower` that have to leave `node` for `unplaced`; none where that is not enough."""
    with cluster.what_if():
        for pod in lower:
            cluster.remove(pod, node)
        if not unplaced.evaluate().feasible[node]:
            return []
        preempted = []
        for pod in sorted(lower, key=queue_order):
            with cluster.what_if() as trial:
                cluster.add(pod, node)
                if unplaced.evaluate().feasible[node]:
                    trial.keep()
                    continue
            preempted.append(pod)
    return preempted


def _named(pods: Sequence[Pod]) -> str:
    """The pods with their priorities, the first three of several."""
    names = first_names([f"{pod.key} (priority {priority_of(pod)})" for pod in pods], _MOST_NAMED)
    return f"pod {names} is" if len(pods) == 1 else f"pods {names} are"
