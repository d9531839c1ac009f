"""The entry to explanations: a question in, the document `Explanation` out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple, TypedDict

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.budgets import explain_budgets
from descheduler.explanation.groups import explain_group
from descheduler.explanation.koordinator.devices import explain_device
from descheduler.explanation.koordinator.migration_jobs import explain_migration_job
from descheduler.explanation.koordinator.pod_groups import explain_pod_group
from descheduler.explanation.koordinator.reservations import explain_reservation
from descheduler.explanation.koordinator.scheduling import Scheduling
from descheduler.explanation.moved_cluster import configuration_of
from descheduler.explanation.nodes import explain_node, explain_node_after, pods_of
from descheduler.explanation.plugins import explain_plugin
from descheduler.explanation.pods import explain_pod
from descheduler.explanation.scheduling.quotas import explain_quota
from descheduler.explanation.subjects import GROUP_KINDS, find_group, find_node, find_pod
from descheduler.explanation.watching.watched_run import RunOptions, WatchedRun, watched_run
from descheduler.model.pod import Pod
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.policy.types import Policy
from descheduler.report.document import API_VERSION
from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.group import GroupExplanation
from descheduler.report.explanation.node import NodeExplanation
from descheduler.report.explanation.pod import PodExplanation
from descheduler.report.identities import policy_identity, snapshot_identity

__all__ = ["Subject", "explain", "explain_plugin_alone"]

Subject = Literal[
    "pod",
    "node",
    "plugin",
    "elasticquota",
    "reservation",
    "podgroup",
    "device",
    "podmigrationjob",
    "poddisruptionbudget",
    "namespace",
    "deployment",
    "statefulset",
    "daemonset",
    "replicaset",
    "replicationcontroller",
    "job",
    "cronjob",
]
"""What can be asked about."""


def explain(
    subject: Subject,
    name: str,
    snapshot: Snapshot,
    *,
    policy: Policy | None,
    settings: SchedulingSettings,
    now: datetime,
    options: RunOptions | None = None,
) -> Explanation:
    """What a run of `policy` with `options` decides about the thing called `name` in `snapshot`, and why.

    Pods and workloads are called `namespace/name`; a name alone will do where no other namespace has it. Raises
    UnknownSubjectError when there is none of that name, PolicyError as `decide` does.
    """
    asked = _Asked(snapshot, policy, settings, now, options)
    answer = _answer(subject, name, asked)
    about = Explanation(
        api_version=API_VERSION,
        kind="Explanation",
        now=now,
        policy=None if policy is None else policy_identity(policy),
        snapshot=snapshot_identity(snapshot, now),
        warnings=(*_policy_warnings(policy), *snapshot.warnings, *answer.warnings),
        **_NOTHING,
    )
    return msgspec.structs.replace(about, **{answer.field: answer.explanation})


def explain_plugin_alone(
    name: str, *, policy: Policy | None, settings: SchedulingSettings, now: datetime
) -> Explanation:
    """What the plugin called `name` is, without looking at any cluster. Raises UnknownSubjectError."""
    about = Explanation(
        api_version=API_VERSION,
        kind="Explanation",
        now=now,
        policy=None if policy is None else policy_identity(policy),
        snapshot=None,
        warnings=_policy_warnings(policy),
        **_NOTHING,
    )
    plugin = explain_plugin(name, policy=policy, scheduling=configuration_of(settings))
    return msgspec.structs.replace(about, plugin=plugin)


class _NoSubject(TypedDict):
    """The fields of the subjects, of which one is set."""

    pod: None
    node: None
    plugin: None
    group: None
    quota: None
    reservation: None
    pod_group: None
    device: None
    migration_job: None
    budgets: None


_NOTHING: _NoSubject = {
    "pod": None,
    "node": None,
    "plugin": None,
    "group": None,
    "quota": None,
    "reservation": None,
    "pod_group": None,
    "device": None,
    "migration_job": None,
    "budgets": None,
}


class _Answer(NamedTuple):
    """The field of the document that is set, what it holds, and warnings."""

    field: str
    explanation: Fields
    warnings: tuple[str, ...] = ()


def _answer(subject: Subject, name: str, asked: _Asked) -> _Answer:
    match subject:
        case "pod":
            return _Answer("pod", *_pod(name, asked))
        case "node":
            return _Answer("node", *_node(name, asked))
        case "plugin":
            scheduling = configuration_of(asked.settings)
            return _Answer(
                "plugin", explain_plugin(name, policy=asked.policy, scheduling=scheduling, run=asked.run(()))
            )
        case "elasticquota":
            cluster = ShadowCluster(asked.snapshot, version=asked.settings.version)
            return _Answer("quota", explain_quota(name, cluster, asked.settings))
        case "reservation":
            return _Answer("reservation", explain_reservation(name, asked.snapshot, asked.scheduling()))
        case "podgroup":
            return _Answer("pod_group", explain_pod_group(name, asked.snapshot, asked.scheduling()))
        case "device":
            return _Answer("device", explain_device(name, asked.snapshot, asked.scheduling()))
        case "podmigrationjob":
            return _Answer("migration_job", explain_migration_job(name, asked.snapshot, asked.now))
        case "poddisruptionbudget":
            return _Answer("budgets", explain_budgets(name, asked.snapshot))
        case _:
            return _Answer("group", *_group(GROUP_KINDS[subject], name, asked))


class _Asked(NamedTuple):
    """What every question is about."""

    snapshot: Snapshot
    policy: Policy | None
    settings: SchedulingSettings
    now: datetime
    options: RunOptions | None

    def scheduling(self) -> Scheduling:
        """The cluster as it is, and its schedulers."""
        return Scheduling.of(self.snapshot, self.settings)

    def run(self, pods: Iterable[Pod]) -> WatchedRun | None:
        """One run that watches `pods`; None without a policy."""
        if self.policy is None:
            return None
        return watched_run(self.policy, self.snapshot, pods, self.now, self.options)


def _pod(name: str, asked: _Asked) -> tuple[PodExplanation, tuple[str, ...]]:
    pod = find_pod(asked.snapshot, name)
    run = asked.run((pod,))
    explanation, warnings = explain_pod(pod, asked.snapshot, asked.settings, now=asked.now, run=run)
    return explanation, (*_notes(run), *warnings)


def _node(name: str, asked: _Asked) -> tuple[NodeExplanation, tuple[str, ...]]:
    node = find_node(asked.snapshot, name)
    run = asked.run(pods_of(node, asked.snapshot))
    if run is None:
        return explain_node(node, asked.snapshot, asked.settings, asked.now)
    explanation, warnings = explain_node_after(node, asked.snapshot, asked.settings, run)
    return explanation, (*run.notes, *warnings)


def _group(kind: str, name: str, asked: _Asked) -> tuple[GroupExplanation, tuple[str, ...]]:
    group = find_group(asked.snapshot, kind, name)
    run = asked.run(group.pods)
    explanation, warnings = explain_group(group, asked.snapshot, asked.settings, now=asked.now, run=run)
    return explanation, (*_notes(run), *warnings)


def _notes(run: WatchedRun | None) -> tuple[str, ...]:
    return () if run is None else run.notes


def _policy_warnings(policy: Policy | None) -> tuple[str, ...]:
    return () if policy is None else tuple(str(problem) for problem in policy.warnings)
