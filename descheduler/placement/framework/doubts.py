"""Checks of a scheduler that are not modelled, and the pods that they concern."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.koordinator_features import koordinator_feature

__all__ = ["doubt_about"]


def doubt_about(pod: Pod, profile: SchedulerProfile, configuration: SchedulerConfiguration) -> str:
    """What `profile` of `configuration` checks of `pod` that is not modelled, or an empty string.

    The words are the same for every pod that it concerns.
    """
    unknown = [name for name in profile.unknown_plugins if name not in profile.unknown_scorers]
    if unknown:
        plugins = f"plugin {unknown[0]} is" if len(unknown) == 1 else f"plugins {', '.join(unknown)} are"
        return f"scheduler {plugins} not modelled"
    for extender in configuration.extenders:
        if extender.filters and extender.is_interested(pod.spec.requests):
            return f"scheduler extender {extender.url_prefix} is not called"
    if feature := koordinator_feature(pod):
        return f"{feature.words} are not modelled ({feature.plugin})"
    if pod.spec.has_scheduling_group:
        return "scheduling groups are not modelled (GangScheduling)"
    return ""
