"""Who places the pods that an explanation is about."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from descheduler.eviction.placement_verification.placement_verification import scheduling_settings, verification_args
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.configured import load_configuration
from descheduler.policy.types import Policy

__all__ = ["settings_for"]


def settings_for(
    policy: Policy | None,
    *,
    configuration_file: Path | None = None,
    version: KubeVersion | None = None,
    cluster_version: KubeVersion | None = None,
) -> SchedulingSettings:
    """What the operator says, else what PlacementVerification says in the first profile that runs it.

    Without both it is kube-scheduler as it comes, of the version of the cluster or else the newest one. Raises
    PolicyError for a configuration that cannot be read.
    """
    settings = _of_policy(policy, cluster_version) or SchedulingSettings(version=cluster_version or KubeVersion())
    if version is not None:
        settings = replace(settings, version=version)
    if configuration_file is None:
        return settings
    configuration = load_configuration(configuration_file, settings.version, PLUGINS)
    return replace(settings, configuration=configuration)


def _of_policy(policy: Policy | None, cluster_version: KubeVersion | None) -> SchedulingSettings | None:
    if policy is None:
        return None
    for profile in policy.profiles:
        args = verification_args(profile)
        if args is not None:
            return scheduling_settings(args, policy.scheduler_files, cluster_version)
    return None
