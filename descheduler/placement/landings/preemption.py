"""Preemption as a hint: where a replacement that does not land would push out pods of lower priority.

That is no landing, since it moves the problem to another workload. What is said here is what an operator has to expect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import Evaluation
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.framework.obstacle_counts import open_for_good
from descheduler.placement.framework.units import priority_of
from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["preemption_hint"]

_NEVER = "Never"
_MOST_NODES = 20


def preemption_hint(unplaced: UnplacedReplacement, cluster: ShadowCluster, gone: Collection[int]) -> str:
    """The first node found on which preemption makes room for `unplaced`, as a sentence; empty when none was found.

    `gone` are the identities of pods of the snapshot that are not on `cluster` any more; the victim is one of them.
    A scheduler that preempts nobody has no such node. All pods of lower priority leave the node for that, while the
    scheduler would spare some; and twenty nodes at most are tried. For a pod that plugins refuse before nodes are
    looked at, such as for its quota, only those leave that these plugins would evict.
    """
    if not unplaced.scheduler.preempts:
        return ""
    evaluation = unplaced.evaluate()
    if evaluation.fits or not evaluation.is_queued or unplaced.pod.spec.preemption_policy == _NEVER:
        return ""
    for node in _helpable(unplaced, evaluation):
        name = cluster.table.nodes[node].name
        lower = [
            pod
            for pod in cluster.snapshot.pods_by_node.get(name, ())
            if _is_lower(pod, unplaced, gone) and unplaced.scheduler.may_preempt(evaluation, pod)
        ]
        if lower and _fits_without(lower, unplaced, node, cluster):
            pods = "1 pod" if len(lower) == 1 else f"{len(lower)} pods"
            doubt = unplaced.scheduler.doubt_of_preemption(unplaced.pod)
            beside = f", which is unknown: {doubt}" if doubt else ""
            return f"it would be scheduled onto {name} if {pods} of lower priority is preempted there{beside}"
    return ""


def _helpable(unplaced: UnplacedReplacement, evaluation: Evaluation) -> Iterator[int]:
    """Nodes against which there is nothing that preemption could not change."""
    if evaluation.refusals:
        yield from range(min(len(evaluation.feasible), _MOST_NODES))
        return
    candidates = np.flatnonzero(open_for_good(unplaced.scheduler, evaluation))[:_MOST_NODES]
    for node in candidates.tolist():
        if all(obstacle.code is Code.UNSCHEDULABLE for obstacle in evaluation.obstacles_on(node)):
            yield node


def _is_lower(pod: Pod, unplaced: UnplacedReplacement, gone: Collection[int]) -> bool:
    return not pod.is_terminal and id(pod) not in gone and priority_of(pod) < unplaced.priority


def _fits_without(pods: list[Pod], unplaced: UnplacedReplacement, node: int, cluster: ShadowCluster) -> bool:
    with cluster.what_if():
        for pod in pods:
            cluster.remove(pod, node)
        return bool(unplaced.evaluate().feasible[node])
