"""Pods that cannot be evicted, whatever an objective is, and the reason that most of them have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict
from descheduler.optimizer.arrays import PENDING
from descheduler.planner.problem.cluster_problem import ClusterProblem


def refused_by_filters(pods: Iterable[Pod], evictor: PluginEvictor) -> Sequence[tuple[Pod, Verdict]]:
    """The pods of `pods` that the filters of the profile or the scope of the run reject, each with its verdict."""
    return [(pod, verdict) for pod in pods if not (verdict := _verdict(pod, evictor)).is_accepted]


def refused_in_every_run(refused: Sequence[tuple[Pod, Verdict]]) -> Sequence[tuple[Pod, Verdict]]:
    """The pods of `refused` that a later run rejects as well: the limit on pods that migrate at once is for one run."""
    return [each for each in refused if each[1].reason is not Reason.MIGRATING_LIMIT]


def why_most_are_refused(refused: Sequence[tuple[Pod, Verdict]]) -> str:
    """The reason that most of them have, of one at least: such as `8 like pod shop/cart-0: …`."""
    ((reason, number),) = Counter(verdict.reason for _, verdict in refused).most_common(1)
    pod, verdict = next(each for each in refused if each[1].reason is reason)
    if number > 1:
        named = f"{number:,} like pod {pod.key}"
    else:
        named = f"pod {pod.key}" if len(refused) == 1 else f"for example pod {pod.key}"
    return f"{named}: {verdict.message}"


def why_none_can_leave(cluster: ClusterProblem, evictor: PluginEvictor) -> str:
    """A sentence with the reason that the filters have most often; empty where they accept some pod."""
    problem = cluster.problem
    is_placed = problem.assignment != PENDING
    pods = [pod for pod, placed in zip(cluster.pods, is_placed.tolist(), strict=True) if placed]
    if not pods or (problem.evictable & is_placed).any():
        return ""
    refused = refused_by_filters(pods, evictor)
    return f"0 of {counted(len(pods), 'pod')} can be evicted ({why_most_are_refused(refused)})" if refused else ""


def _verdict(pod: Pod, evictor: PluginEvictor) -> Verdict:
    verdicts = (ask(pod) for ask in (evictor.filter, evictor.pre_eviction_filter, evictor.of_scope))
    return next((verdict for verdict in verdicts if not verdict.is_accepted), ACCEPTED)
