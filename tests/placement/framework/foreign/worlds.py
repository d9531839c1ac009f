"""Schedulers that run the plugins of this package, and provers over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.configured import with_profiles_for
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.table import SCHEDULERS
from tests.builders import make_snapshot
from tests.placement.framework.foreign import gang_at_permit, last_node, named_devices, team_quota

FOREIGN: Mapping[str, SchedulingPlugin] = {
    "TeamQuota": team_quota.ROW,
    "NamedDevices": named_devices.ROW,
    "GangAtPermit": gang_at_permit.ROW,
}
TABLE: Mapping[str, SchedulingPlugin] = {**PLUGINS, **FOREIGN}
SCHEDULERS_HERE: Mapping[str, SchedulerRow] = {**SCHEDULERS, last_node.NAME: last_node.ROW}


def configured(
    point: str = "multiPoint",
    names: Iterable[str] = FOREIGN,
    args: Mapping[str, object] | None = None,
    table: Mapping[str, SchedulingPlugin] = TABLE,
) -> SchedulerConfiguration:
    """The configuration that enables the plugins `names` at `point` on top of the default ones.

    `args` are the arguments of plugins by name, `table` are the plugins that there are.
    """
    return load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "default-scheduler",
                    "plugins": {point: {"enabled": [{"name": name} for name in names]}},
                    "pluginConfig": [{"name": name, "args": given} for name, given in (args or {}).items()],
                }
            ],
        },
        plugins=table,
    )


def prover_of(
    nodes: Iterable[Node], pods: Iterable[Pod], configuration: SchedulerConfiguration | None = None
) -> LandingProver:
    """A prover whose scheduler runs all of the plugins, unless `configuration` says otherwise."""
    configuration = with_profiles_for([last_node.NAME], configuration or configured(), TABLE, SCHEDULERS_HERE)
    return LandingProver(
        make_snapshot(nodes, pods), configuration=configuration, plugins=TABLE, schedulers=SCHEDULERS_HERE
    )
