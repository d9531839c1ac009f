"""What pods ask of each GPU, by Koordinator's resources."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.placement.framework.node_parts import FreePart, PartNeed
from descheduler.placement.plugins.device_share.row import GpuParts
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_pod, make_snapshot, node_object
from tests.placement.plugins.device_share.worlds import CORE, MEMORY, RATIO, device_object, gpu, gpu_pod, snapshot_of

_80_GIB = 80 * 2**30


@pytest.mark.parametrize(
    ("requests", "need"),
    [
        pytest.param({CORE: "30", RATIO: "50"}, PartNeed(1, 30, 50), id="a part of one GPU"),
        pytest.param({CORE: "200", RATIO: "200"}, PartNeed(2, 100, 100), id="two GPUs by percent"),
        pytest.param({"koordinator.sh/gpu": "50"}, PartNeed(1, 50, 50), id="half a GPU by one resource"),
        pytest.param({"nvidia.com/gpu": "4"}, PartNeed(4, 100, 100), id="four GPUs of a vendor"),
        pytest.param({MEMORY: "20Gi"}, PartNeed(1, 0, 25), id="memory is a part of the largest GPU"),
        pytest.param({CORE: "150", RATIO: "150"}, None, id="what the scheduler takes nowhere"),
        pytest.param({"cpu": "1"}, None, id="no GPU"),
    ],
)
def test_requests_are_read_as_device_share_reads_them(requests: dict[str, str], need: PartNeed | None) -> None:
    assert (
        GpuParts(ShadowCluster(make_snapshot())).need(make_pod("p", requests=requests).spec.requests, _80_GIB) == need
    )


def test_planners_count_what_the_row_of_a_plugin_names() -> None:
    snapshot = snapshot_of([node_object("a"), device_object("a", gpu(0), gpu(1, healthy=False))])
    none = {**PLUGINS, "DeviceShare": replace(PLUGINS["DeviceShare"], parts=None)}

    of_row, of_none = (LandingProver(snapshot, plugins=table).openings().parts for table in (PLUGINS, none))

    assert (of_row.free(0), of_none.free(0)) == ({0: FreePart(100, 100)}, {})


def test_copy_of_a_pod_has_none_of_its_devices() -> None:
    pod = gpu_pod("p", {CORE: "50", RATIO: "50"}, node="a", has={"gpu": [{"minor": 0, "resources": {CORE: "50"}}]})
    snapshot = snapshot_of([node_object("a"), device_object("a", gpu(0)), pod])
    (victim,) = snapshot.pods

    replacement = LandingProver(snapshot).consider(victim).replacement

    assert DEVICES_ALLOCATED_ANNOTATION in victim.annotations
    assert replacement.pod is not None
    assert replacement.source == "live"
    assert DEVICES_ALLOCATED_ANNOTATION not in replacement.pod.annotations
