"""Who places the replacements of evicted pods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.schedulers.table import ALWAYS_ASSUMED, ASSUMED

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration


class SchedulingSettings(msgspec.Struct, frozen=True):
    """Who places the replacements. `configuration` None is kube-scheduler as it comes.

    The schedulers `names` have a profile whether it holds one or not; see `with_profiles_for`.
    """

    configuration: SchedulerConfiguration | None = None
    version: KubeVersion = msgspec.field(default_factory=KubeVersion)
    names: tuple[str, ...] = ASSUMED

    def resolved(self) -> SchedulerConfiguration:
        """The configuration with a profile for each of the schedulers."""
        if self.configuration is None:
            return _configuration_as_it_comes(self.version, self.names)
        return _with_profiles_for(self.names, self.configuration)


@cache
def _configuration_as_it_comes(version: KubeVersion, names: tuple[str, ...]) -> SchedulerConfiguration:
    """The configuration of kube-scheduler without a file, which each round of a run asks for."""
    from descheduler.placement.configuration.kube_scheduler.configuration import default_configuration
    from descheduler.placement.plugins.table import PLUGINS

    return _with_profiles_for(names, default_configuration(version, PLUGINS))


def _with_profiles_for(names: Sequence[str], configuration: SchedulerConfiguration) -> SchedulerConfiguration:
    from descheduler.placement.plugins.table import PLUGINS
    from descheduler.placement.schedulers.configured import with_profiles_for

    return with_profiles_for((*names, *ALWAYS_ASSUMED), configuration, PLUGINS)
