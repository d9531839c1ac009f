"""`descheduler explain` of a workload or a namespace: what becomes of each of its pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.landings import landing_message
from descheduler.explanation.moved_cluster import MovedCluster
from descheduler.explanation.subjects import Group
from descheduler.explanation.watching.watched_run import WatchedRun
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing
from descheduler.report.explanation.group import ExplainedPod, GroupExplanation, LandingCount
from descheduler.report.explanation.pod import PluginAnswer, PodDecision, Verdict
from descheduler.report.identities import reference
from descheduler.report.plan.landings import landing_causes

__all__ = ["count_landings", "explain_group", "verdict_word"]


def explain_group(
    group: Group, snapshot: Snapshot, settings: SchedulingSettings, *, now: datetime, run: WatchedRun | None
) -> tuple[GroupExplanation, tuple[str, ...]]:
    """The explanation of the pods of `group`, and warnings.

    With a `run` only the pods that it evicts have a landing, without one all that have a node.
    """
    pods = group.pods
    books_likely, held = run is None or not run.decisions.is_verified, {} if run is None else run.held
    moved = MovedCluster(snapshot, settings, now=now, books_likely=books_likely, held=held)
    landings = _landings_alone(pods, moved) if run is None else _landings_in(run, pods, moved)
    found = [landings[id(pod)] for pod in pods if id(pod) in landings]
    explanation = GroupExplanation(
        kind=group.kind,
        namespace=group.namespace,
        name=group.name,
        unjudged="" if run is None else run.decisions.skipped,
        pods=tuple(_explained(pod, run, landings.get(id(pod))) for pod in pods),
        landing_counts=count_landings(found),
        causes=tuple(landing_causes(found)),
    )
    return explanation, moved.warnings


def verdict_word(landing: Landing) -> Verdict | None:
    """The verdict in the words of documents; None where no replacement is created."""
    return None if landing.replacement.pod is None else landing.verdict.value


def count_landings(landings: Iterable[Landing]) -> tuple[LandingCount, ...]:
    """One entry a verdict, the most frequent first."""
    counts = Counter(map(verdict_word, landings))
    in_order = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return tuple(LandingCount(verdict=verdict, num_pods=number) for verdict, number in in_order)


def _landings_alone(pods: Iterable[Pod], moved: MovedCluster) -> dict[int, Landing]:
    return {id(pod): moved.landing_of(pod) for pod in pods if pod.node_name}


def _landings_in(run: WatchedRun, pods: Iterable[Pod], moved: MovedCluster) -> dict[int, Landing]:
    wanted = set(map(id, pods))
    evicted = [move.pod for move in run.decisions.leaving]
    landings = zip(evicted, moved.book_all(evicted), strict=True)
    return {id(pod): landing for pod, landing in landings if id(pod) in wanted}


def _explained(pod: Pod, run: WatchedRun | None, landing: Landing | None) -> ExplainedPod:
    decision = None if run is None else run.decision_about(pod)
    answer = _decisive(decision)
    return ExplainedPod(
        pod=reference(pod),
        node=pod.node_name or None,
        outcome=None if decision is None else decision.outcome,
        plugin="" if answer is None else answer.plugin,
        reason="" if answer is None else answer.reason,
        code="" if answer is None else answer.code,
        message="" if answer is None else answer.message,
        subject="" if answer is None else answer.subject,
        landing=None if landing is None else verdict_word(landing),
        to_node=None if landing is None else landing.node,
        landing_message="" if landing is None else landing_message(landing),
    )


def _decisive(decision: PodDecision | None) -> PluginAnswer | None:
    """The answer that evicts the pod, else the first one, which says what blocks it."""
    answers = () if decision is None else decision.answers
    return next((answer for answer in answers if answer.result == "evicted"), answers[0] if answers else None)
