"""What pods ask of each GPU, by Koordinator's resources."""

from __future__ import annotations

import pytest

from descheduler.planner.gpus.gpu_need import GpuNeed, gpu_need
from tests.builders import make_pod
from tests.placement.plugins.device_share.worlds import CORE, MEMORY, RATIO

_80_GIB = 80 * 2**30


@pytest.mark.parametrize(
    ("requests", "need"),
    [
        pytest.param({CORE: "30", RATIO: "50"}, GpuNeed(1, 30, 50), id="a part of one GPU"),
        pytest.param({CORE: "200", RATIO: "200"}, GpuNeed(2, 100, 100), id="two GPUs by percent"),
        pytest.param({"koordinator.sh/gpu": "50"}, GpuNeed(1, 50, 50), id="half a GPU by one resource"),
        pytest.param({"nvidia.com/gpu": "4"}, GpuNeed(4, 100, 100), id="four GPUs of a vendor"),
        pytest.param({MEMORY: "20Gi"}, GpuNeed(1, 0, 25), id="memory is a part of the largest GPU"),
        pytest.param({CORE: "150", RATIO: "150"}, None, id="what the scheduler takes nowhere"),
        pytest.param({"cpu": "1"}, None, id="no GPU"),
    ],
)
def test_requests_are_read_as_device_share_reads_them(requests: dict[str, str], need: GpuNeed | None) -> None:
    assert gpu_need(make_pod("p", requests=requests).spec.requests, _80_GIB) == need
