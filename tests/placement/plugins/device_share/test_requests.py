"""What pods ask of devices: sections 6.2 and 6.3 of the reference of Koordinator's behaviour."""

from __future__ import annotations

import pytest

from descheduler.model.quantity import parse_quantity
from descheduler.placement.plugins.device_share.requests import GpuRequest, RequestError, device_requests, gpu_request
from tests.placement.plugins.device_share.worlds import CORE, MEMORY, RATIO

_SHARED, _GPU = "koordinator.sh/gpu.shared", "koordinator.sh/gpu"
_NPU = "huawei.com/npu-core"


def gpus(requests: dict[str, str]) -> GpuRequest:
    """The GPUs that requests come to."""
    return gpu_request(device_requests({name: parse_quantity(text) for name, text in requests.items()})["gpu"])


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({"nvidia.com/gpu": "2"}, ({CORE: 100, RATIO: 100}, 2, False), id="whole cards of a vendor"),
        pytest.param({_GPU: "50"}, ({CORE: 50, RATIO: 50}, 1, True), id="half a card"),
        pytest.param({_GPU: "300"}, ({CORE: 100, RATIO: 100}, 3, False), id="three cards in percent"),
        pytest.param({"kubernetes.io/gpu": "50"}, ({CORE: 50, RATIO: 50}, 1, True), id="half a card by its old name"),
        pytest.param({CORE: "30", RATIO: "100"}, ({CORE: 30, RATIO: 100}, 1, False), id="all memory is not shared"),
        pytest.param({MEMORY: "8Gi"}, ({MEMORY: 8 * 2**30}, 1, True), id="memory in bytes is shared"),
        pytest.param(
            {CORE: "200", MEMORY: "16Gi"},
            ({CORE: 200, MEMORY: 16 * 2**30}, 1, True),
            id="bytes are of one card",
        ),
        pytest.param(
            {_SHARED: "2", CORE: "100", RATIO: "100"}, ({CORE: 50, RATIO: 50}, 2, True), id="two shares of a half"
        ),
        pytest.param({_SHARED: "4", MEMORY: "32Gi"}, ({MEMORY: 8 * 2**30}, 4, True), id="bytes of four shares"),
        pytest.param({_NPU: "40", RATIO: "200"}, ({_NPU: 20, RATIO: 100}, 2, False), id="two NPUs"),
    ],
)
def test_request_comes_to_so_many_gpus_with_so_much_each(
    requests: dict[str, str], expected: tuple[dict[str, int], int, bool]
) -> None:
    assert tuple(gpus(requests)) == expected


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        pytest.param({CORE: "50"}, f"invalid resource device requests: [{CORE}]", id="core alone"),
        pytest.param(
            {"nvidia.com/gpu": "1", _GPU: "100"},
            f"invalid resource device requests: [{_GPU} nvidia.com/gpu]",
            id="a vendor's name beside Koordinator's",
        ),
        pytest.param({_GPU: "150"}, f"invalid resource unit {_GPU}: 150", id="a card and a half"),
        pytest.param({"koordinator.sh/rdma": "150"}, "invalid resource unit koordinator.sh/rdma: 150", id="RDMA"),
        pytest.param({RATIO: "150"}, f"invalid resource device requests: [{RATIO}]", id="ratio of a card and a half"),
        pytest.param(
            {_SHARED: "3", RATIO: "100"}, f"invalid resource device requests: [{RATIO} {_SHARED}]", id="uneven shares"
        ),
        pytest.param(
            {_SHARED: "2", RATIO: "400"},
            f"invalid resource device requests: [{RATIO} {_SHARED}]",
            id="shares too large",
        ),
    ],
)
def test_request_that_is_no_combination_is_refused_in_the_words_of_the_scheduler(
    requests: dict[str, str], words: str
) -> None:
    with pytest.raises(RequestError) as refused:
        gpus(requests)

    assert str(refused.value) == words


def test_zero_is_not_asked_for() -> None:
    assert device_requests({CORE: 0, RATIO: parse_quantity("50"), "cpu": parse_quantity("1")}) == {"gpu": {RATIO: 50}}


def test_each_type_is_asked_for_by_itself() -> None:
    requests = {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "200", "koordinator.sh/fpga": "50"}

    found = device_requests({name: parse_quantity(text) for name, text in requests.items()})

    assert found == {
        "gpu": {CORE: 100, RATIO: 100},
        "rdma": {"koordinator.sh/rdma": 200},
        "fpga": {"koordinator.sh/fpga": 50},
    }
