"""kube-scheduler as it comes, of a cluster's version."""

from __future__ import annotations

from functools import lru_cache

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

DEFAULT_CONFIGURATION = default_configuration(KubeVersion(), PLUGINS)
"""That of the newest version known, of one profile."""


def default_scheduler(cluster: ShadowCluster) -> Scheduler:
    """The scheduler over `cluster`."""
    return Scheduler(cluster, _configuration_of(cluster.version).profiles[0], plugins=PLUGINS)


@lru_cache
def _configuration_of(version: KubeVersion) -> SchedulerConfiguration:
    return default_configuration(version, PLUGINS)
