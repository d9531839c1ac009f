"""Out of which published capacity a new volume comes."""

from __future__ import annotations

from descheduler.model.volume_sources import CSIDriver
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.provisioning import AssumedVolumes, Provisioning
from descheduler.placement.shadow.node_table import NodeTable
from tests.builders import make_node, make_snapshot
from tests.placement.clusters import HOSTNAME
from tests.placement.plugins.volumes.storage import DRIVER, make_capacity, make_claim, make_class


def test_volume_comes_out_of_the_largest_capacity_that_is_told_in_bytes() -> None:
    nodes = [make_node("a", labels={HOSTNAME: "a"})]
    snapshot = make_snapshot(
        nodes,
        storage_classes={"fast": make_class("fast", provisioner=DRIVER)},
        csi_drivers={DRIVER: CSIDriver(DRIVER, tracks_capacity=True)},
        storage_capacities=(
            make_capacity("untold", size=None, node="a", maximum_volume_size=1000),
            make_capacity("small", size=50, node="a"),
            make_capacity("large", size=80, node="a"),
        ),
    )
    provisioning = Provisioning(snapshot, NodeSets(NodeTable(snapshot.nodes)))

    small, huge = (make_claim("c", size=size, storage_class="fast") for size in (40, 90))

    assert provisioning.source(small, 0, AssumedVolumes()) == (("kube-system", "large"), 80)
    assert provisioning.source(huge, 0, AssumedVolumes()) is None
