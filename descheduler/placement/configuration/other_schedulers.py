"""Schedulers that no configuration describes, by the names that pods give.

koord-scheduler runs what its manifest says. Of any other it is taken that it is made of kube-scheduler and runs the
first profile of the configuration, beside nobody knows what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from descheduler.placement.configuration.koordinator import koord_profile
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.plugin_settings import PluginSettings
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.configuration.scheduler_names import KOORD_SCHEDULER

__all__ = ["with_profiles_for"]


def with_profiles_for(
    names: Iterable[str], configuration: SchedulerConfiguration, plugins: Mapping[str, PluginSettings]
) -> SchedulerConfiguration:
    """`configuration` with a profile for each of `names`, those aside that have one of their own there."""
    taken = {profile.scheduler_name for profile in configuration.profiles}
    first = configuration.profiles[0]
    more = tuple(_profile(name, first, plugins) for name in dict.fromkeys(names) if name not in taken)
    return replace(configuration, profiles=(*configuration.profiles, *more))


def _profile(name: str, first: SchedulerProfile, plugins: Mapping[str, PluginSettings]) -> SchedulerProfile:
    return koord_profile(plugins) if name == KOORD_SCHEDULER else replace(first, scheduler_name=name)
