"""Pods of which it cannot be told where a profile of kube-scheduler places them."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.koordinator_features import koordinator_feature

__all__ = ["doubt_about"]


def doubt_about(pod: Pod, profile: SchedulerProfile, configuration: SchedulerConfiguration) -> str:
    """Why it cannot be told where `profile` of `configuration` places `pod`, or an empty string."""
    unknown = [name for name in profile.unknown_plugins if name not in profile.unknown_scorers]
    if unknown:
        return f"its scheduler runs plugins that are not known: {', '.join(unknown)}"
    for extender in configuration.extenders:
        if extender.filters and extender.is_interested(pod.spec.requests):
            return f"the scheduler extender {extender.url_prefix} may refuse nodes"
    if feature := koordinator_feature(pod):
        return f"it uses {feature}, which Koordinator's scheduler judges"
    if pod.spec.has_scheduling_group:
        return "it waits for the other pods of its scheduling group"
    return ""
