"""kube-scheduler of the newest version known, as it comes."""

from __future__ import annotations

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import default_configuration
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["DEFAULT_CONFIGURATION", "default_scheduler"]

DEFAULT_CONFIGURATION = default_configuration(KubeVersion(), PLUGINS)
"""Its configuration, of one profile."""


def default_scheduler(cluster: ShadowCluster) -> Scheduler:
    """The scheduler over `cluster`."""
    return Scheduler(cluster, DEFAULT_CONFIGURATION.profiles[0], plugins=PLUGINS)
