"""The entry to explanations: a question in, the document `Explanation` out."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.moved_cluster import configuration_of
from descheduler.explanation.nodes import explain_node, explain_node_after, pods_of
from descheduler.explanation.plugins import explain_plugin
from descheduler.explanation.pods import explain_pod
from descheduler.explanation.subjects import find_node, find_pod
from descheduler.explanation.watched_run import watched_run
from descheduler.policy.types import Policy
from descheduler.report.document import API_VERSION
from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.node import NodeExplanation
from descheduler.report.explanation.pod import PodExplanation
from descheduler.report.identities import policy_identity, snapshot_identity

__all__ = ["Subject", "explain", "explain_plugin_alone"]

Subject = Literal["pod", "node", "plugin"]
"""What can be asked about."""


def explain(
    subject: Subject,
    name: str,
    snapshot: Snapshot,
    *,
    policy: Policy | None,
    settings: SchedulingSettings,
    now: datetime,
) -> Explanation:
    """Why the pod (`namespace/name`), the node or the plugin called `name` stands where it stands in `snapshot`.

    Raises UnknownSubjectError when there is none of that name, PolicyError as `decide` does.
    """
    warnings: tuple[str, ...] = ()
    pod, node, plugin = None, None, None
    match subject:
        case "pod":
            pod, warnings = _pod(name, snapshot, policy, settings, now)
        case "node":
            node, warnings = _node(name, snapshot, policy, settings, now)
        case "plugin":
            run = None if policy is None else watched_run(policy, snapshot, (), now)
            plugin = explain_plugin(name, policy=policy, scheduling=configuration_of(settings), run=run)
    return Explanation(
        api_version=API_VERSION,
        kind="Explanation",
        now=now,
        policy=None if policy is None else policy_identity(policy),
        snapshot=snapshot_identity(snapshot, now),
        pod=pod,
        node=node,
        plugin=plugin,
        warnings=(*_policy_warnings(policy), *snapshot.warnings, *warnings),
    )


def explain_plugin_alone(
    name: str, *, policy: Policy | None, settings: SchedulingSettings, now: datetime
) -> Explanation:
    """What the plugin called `name` is, without looking at any cluster. Raises UnknownSubjectError."""
    return Explanation(
        api_version=API_VERSION,
        kind="Explanation",
        now=now,
        policy=None if policy is None else policy_identity(policy),
        snapshot=None,
        pod=None,
        node=None,
        plugin=explain_plugin(name, policy=policy, scheduling=configuration_of(settings)),
        warnings=_policy_warnings(policy),
    )


def _pod(
    name: str, snapshot: Snapshot, policy: Policy | None, settings: SchedulingSettings, now: datetime
) -> tuple[PodExplanation, tuple[str, ...]]:
    pod = find_pod(snapshot, name)
    run = None if policy is None else watched_run(policy, snapshot, (pod,), now)
    explanation, warnings = explain_pod(pod, snapshot, settings, now=now, run=run)
    return explanation, (*(run.notes if run is not None else ()), *warnings)


def _node(
    name: str, snapshot: Snapshot, policy: Policy | None, settings: SchedulingSettings, now: datetime
) -> tuple[NodeExplanation, tuple[str, ...]]:
    node = find_node(snapshot, name)
    if policy is None:
        return explain_node(node, snapshot, settings)
    run = watched_run(policy, snapshot, pods_of(node, snapshot), now)
    explanation, warnings = explain_node_after(node, snapshot, settings, run)
    return explanation, (*run.notes, *warnings)


def _policy_warnings(policy: Policy | None) -> tuple[str, ...]:
    return () if policy is None else tuple(str(problem) for problem in policy.warnings)
