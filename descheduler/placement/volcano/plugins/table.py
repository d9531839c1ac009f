"""The plugins of Volcano that are modelled: one table, a row for each of them."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.placement.volcano.plugins import (
    deviceshare,
    drf,
    jobs,
    kube_scheduler,
    node_scores,
    queues,
    resource_strategy_fit,
    tdm,
)
from descheduler.placement.volcano.session import VolcanoPlugin

VOLCANO_PLUGINS: Mapping[str, VolcanoPlugin] = {
    row.name: row
    for row in (
        VolcanoPlugin("gang", jobs.start_gang),
        VolcanoPlugin("priority", jobs.start_priority),
        VolcanoPlugin("conformance", jobs.start_conformance),
        VolcanoPlugin("drf", drf.start),
        VolcanoPlugin("predicates", kube_scheduler.start_predicates),
        VolcanoPlugin("proportion", queues.start_proportion),
        VolcanoPlugin("nodeorder", node_scores.start_nodeorder),
        VolcanoPlugin("binpack", node_scores.start_binpack),
        VolcanoPlugin("overcommit", queues.start_overcommit),
        VolcanoPlugin("capacity", queues.start_capacity),
        VolcanoPlugin("pdb", jobs.start_pdb),
        VolcanoPlugin("deviceshare", deviceshare.start),
        VolcanoPlugin("sla", jobs.start_sla),
        VolcanoPlugin("tdm", tdm.start),
        VolcanoPlugin("nodegroup", node_scores.start_nodegroup),
        VolcanoPlugin("resource-strategy-fit", resource_strategy_fit.start),
    )
}
"""The plugins of Volcano's default configuration come first."""
