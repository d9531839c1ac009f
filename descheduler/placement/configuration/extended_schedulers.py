"""Schedulers that are made of kube-scheduler: they run its plugins, and some of their own beside.

The own ones are not modelled. They matter to pods that use what these decide, which are in doubt whoever places them
(`framework.koordinator_features`); any other pod is placed as by kube-scheduler's plugins alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile

__all__ = ["KOORD_SCHEDULER", "ExtendedScheduler", "extended", "known_as"]


@dataclass(frozen=True, slots=True)
class ExtendedScheduler:
    """A scheduler by the name that pods give. It runs the first profile of a configuration beside its own `plugins`,
    of which none is modelled; empty where they are not known."""

    name: str
    plugins: tuple[str, ...] = ()

    def profile(self, first: SchedulerProfile) -> SchedulerProfile:
        """What of it is modelled, where `first` is the profile that it runs."""
        return replace(first, scheduler_name=self.name, unmodelled_plugins=self.plugins)


KOORD_SCHEDULER = ExtendedScheduler(
    "koord-scheduler",
    ("Coscheduling", "DeviceShare", "ElasticQuota", "LoadAwareScheduling", "NodeNUMAResource", "Reservation"),
)
"""The scheduler of Koordinator 1.8."""

_KNOWN = {scheduler.name: scheduler for scheduler in (KOORD_SCHEDULER,)}


def known_as(name: str) -> ExtendedScheduler:
    """The scheduler of this name; one that is not known runs nobody knows what beside."""
    return _KNOWN.get(name) or ExtendedScheduler(name)


def extended(configuration: SchedulerConfiguration, schedulers: Iterable[ExtendedScheduler]) -> SchedulerConfiguration:
    """`configuration` with a profile for each of `schedulers`, those aside that have one of their own there."""
    taken = {profile.scheduler_name for profile in configuration.profiles}
    first = configuration.profiles[0]
    more = tuple(each.profile(first) for each in dict.fromkeys(schedulers) if each.name not in taken)
    return replace(configuration, profiles=(*configuration.profiles, *more))
