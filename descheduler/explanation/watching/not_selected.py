"""Why plugins do not select a pod, each in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from descheduler.documents.fields import Fields
from descheduler.explanation.watching.watch import RunWitness
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.plan.decisions import Decisions
from descheduler.policy.plugin_faults import failure_words
from descheduler.policy.types import Policy, Profile
from descheduler.strategies.framework import PlacingPlugin, ReportingPlugin

__all__ = ["PluginMiss", "plugin_misses"]


class PluginMiss(Fields, frozen=True):
    """One plugin that does not select the pod, and why."""

    profile: str
    plugin: str
    message: str


_CUT_OFF = "a limit stopped the plugin before it came to the pod; without it, evicting other pods is enough"


def plugin_misses(
    pod: Pod, decisions: Decisions, watch: RunWitness, selecting: AbstractSet[tuple[str, str]]
) -> Iterator[PluginMiss]:
    """One entry for each (profile, plugin) of the policy that is not in `selecting` and that can tell, profile by
    profile in running order."""
    if decisions.skipped:
        return
    is_cut_off = any(refusal.verdict.reached is not None for refusal in decisions.refusals)
    failed = {(failure.profile, failure.plugin): failure.message for failure in decisions.failures}
    for profile in decisions.policy.profiles:
        unseen = _why_unseen(pod, decisions, profile)
        for plugin in dict.fromkeys((*profile.deschedule, *profile.balance)):
            key = profile.name, plugin
            if key in failed:
                message = f"failed: {failure_words(plugin, failed[key])}"
            elif pending := _about_pending(pod, watch.strategy(*key)):
                message = pending
            else:
                message = unseen or _why_not(pod, watch.strategy(*key), is_cut_off=is_cut_off)
            if message and key not in selecting:
                yield PluginMiss(profile=profile.name, plugin=plugin, message=message)


def _about_pending(pod: Pod, strategy: object) -> str:
    """What the plugin does for a pod without a node; empty for other pods, and where it does nothing for any."""
    return strategy.about_pending(pod) if not pod.node_name and isinstance(strategy, PlacingPlugin) else ""


def _why_not(pod: Pod, strategy: object, *, is_cut_off: bool) -> str:
    """The plugin's words. It has none for a pod that it would select now, and does not once a limit is lifted."""
    if strategy is None:
        return "did not run: a plugin before it failed"
    if not isinstance(strategy, ReportingPlugin):
        return ""
    return strategy.why_not(pod) or (_CUT_OFF if is_cut_off else "")


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
