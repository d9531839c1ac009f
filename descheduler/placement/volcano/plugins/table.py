"""The plugins of Volcano that are modelled: one table, a row for each of them."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.placement.volcano.plugins import (
    capacity,
    conformance,
    deviceshare,
    drf,
    gang,
    overcommit,
    pdb,
    predicates,
    priority,
    proportion,
    sla,
)
from descheduler.placement.volcano.plugins.scoring import binpack, nodegroup, nodeorder, resource_strategy_fit, tdm
from descheduler.placement.volcano.session import VolcanoPlugin

__all__ = ["VOLCANO_PLUGINS"]

VOLCANO_PLUGINS: Mapping[str, VolcanoPlugin] = {
    row.name: row
    for row in (
        VolcanoPlugin("gang", gang.start),
        VolcanoPlugin("priority", priority.start),
        VolcanoPlugin("conformance", conformance.start),
        VolcanoPlugin("drf", drf.start),
        VolcanoPlugin("predicates", predicates.start),
        VolcanoPlugin("proportion", proportion.start),
        VolcanoPlugin("nodeorder", nodeorder.start),
        VolcanoPlugin("binpack", binpack.start),
        VolcanoPlugin("overcommit", overcommit.start),
        VolcanoPlugin("capacity", capacity.start),
        VolcanoPlugin("pdb", pdb.start),
        VolcanoPlugin("deviceshare", deviceshare.start),
        VolcanoPlugin("sla", sla.start),
        VolcanoPlugin("tdm", tdm.start),
        VolcanoPlugin("nodegroup", nodegroup.start),
        VolcanoPlugin("resource-strategy-fit", resource_strategy_fit.start),
    )
}
"""The plugins of Volcano's default configuration come first."""
