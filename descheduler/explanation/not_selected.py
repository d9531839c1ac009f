"""Why plugins do not select a pod, each in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from descheduler.explanation.watch import Watch
from descheduler.model.labels import EVERYTHING
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.types import Policy, Profile
from descheduler.report.explanation.pod import PluginMiss
from descheduler.strategies.framework import ReportingPlugin

__all__ = ["plugin_misses"]


def plugin_misses(
    pod: Pod, decisions: Decisions, watch: Watch, selecting: AbstractSet[tuple[str, str]]
) -> Iterator[PluginMiss]:
    """One entry for each (profile, plugin) of the policy that is not in `selecting` and that can tell, profile by
    profile in running order."""
    if decisions.skipped:
        return
    failed = {(failure.profile, failure.plugin): failure.message for failure in decisions.failures}
    for profile in decisions.policy.profiles:
        unseen = _why_unseen(pod, decisions, profile)
        for plugin in dict.fromkeys((*profile.deschedule, *profile.balance)):
            key = profile.name, plugin
            message = f"failed: {failed[key]}" if key in failed else unseen or _why_not(pod, watch.strategy(*key))
            if message and key not in selecting:
                yield PluginMiss(profile=profile.name, plugin=plugin, message=message)


def _why_not(pod: Pod, strategy: object) -> str:
    if strategy is None:
        return "did not run: a plugin before it failed"
    return strategy.why_not(pod) if isinstance(strategy, ReportingPlugin) else ""


def _why_unseen(pod: Pod, decisions: Decisions, profile: Profile) -> str:
    """Why no plugin of `profile` is handed the node of `pod`; empty when they are."""
    if not pod.node_name:
        return "the pod is not scheduled onto a node"
    node = next((node for node in decisions.snapshot.nodes if node.name == pod.node_name), None)
    if node is None:
        return f"node {pod.node_name} does not exist"
    if not node.is_ready:
        return f"node {node.name} is not ready"
    owners: tuple[Policy | Profile, ...] = (decisions.policy, profile)
    if all((owner.node_selector or EVERYTHING).matches(node.labels) for owner in owners):
        return ""
    return f"node {node.name} does not match nodeSelector"
