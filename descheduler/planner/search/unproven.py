"""Why it is unknown what no plan is better than."""

from __future__ import annotations

from collections.abc import Set

from descheduler.model.text.counted import counted
from descheduler.plan.moves import PodIdentity
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem


def why_unproven(objective: ClusterObjective, cluster: ClusterProblem) -> str:
    """Why bounds tell nothing of plans over `cluster`, as a clause; empty where they do."""
    if cluster.goes_nowhere and not objective.places_nowhere:
        return f"{_named(cluster.goes_nowhere)} can be evicted without a node for a replacement pod"
    if cluster.resized and not objective.proves_resized:
        return f"the replacement of {_named(cluster.resized)} may request other amounts than the pod"
    if not (cluster.units.is_exact or objective.proves_rounded):
        return "requests add up to more than can be counted exactly"
    return ""


def _named(pods: Set[PodIdentity]) -> str:
    """Such as `pod shop/cart-0 and 2 more pods`."""
    _, namespace, name = min(pods, key=lambda pod: pod[1:])
    more = f" and {counted(len(pods) - 1, 'more pod')}" if len(pods) > 1 else ""
    return f"pod {namespace}/{name}{more}"
