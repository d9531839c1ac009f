"""Which pods take devices of their node alone, so that placed pods bear on them there alone."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.plugins.dynamic_resources.plugin import DynamicResources
from tests.builders import Object, decode_pod, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    any_of,
    claim,
    claiming_object,
    device,
    device_class,
    request,
    scheduler_of,
    slice_of,
    template,
)

NODES = (node_object("a"), node_object("b"))
PLAIN = (slice_of("a", device("x", {"n": 1})), slice_of("b", device("x", {"n": 1})))
IS_1 = f"device.attributes['{GPU}'].n == 1"


def is_local(
    *requests: Object, slices: tuple[Object, ...] = PLAIN, constraints: list[Object] | None = None, **spec: Any
) -> bool:
    """Whether a pod whose claim is made from a template of these requests is local."""
    made = template("t", *requests)
    made["spec"]["spec"]["devices"]["constraints"] = constraints or []
    pod = claiming_object("p")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    pod["spec"] |= spec
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "c"}]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    own = claim("c", *requests, constraints=constraints or [], ownerReferences=[owner])
    scheduler = scheduler_of(*NODES, device_class(), *slices, made, own, claim("shared", request("r")))
    plugin = scheduler.filters["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    found = plugin.interactions
    decoded = decode_pod(pod)
    assert found.can_be_helped(decoded) is not found.is_local(decoded)
    return found.is_local(decoded)


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param(PLAIN, True, id="of one node each"),
        pytest.param((*PLAIN, slice_of("", device("y"), pool="all", allNodes=True)), False, id="of all nodes"),
        pytest.param(
            (*PLAIN, slice_of("", device("y", nodeName="a"), pool="p", perDeviceNodeSelection=True)),
            False,
            id="whose devices name nodes",
        ),
        pytest.param(
            (slice_of("a", device("x"), pool="p", name="s"), slice_of("b", device("y"), pool="p", name="t")),
            False,
            id="of one pool and two nodes",
        ),
        pytest.param(
            (*PLAIN, slice_of("a", device("y"), driver="other.example.com")), True, id="of one name, driver by driver"
        ),
        pytest.param(
            (*PLAIN, slice_of("a", device("y", allowMultipleAllocations=True), pool="p")),
            False,
            id="several pods share",
        ),
    ],
)
def test_devices_are_of_one_node_where_every_slice_is(slices: tuple[Object, ...], expected: bool) -> None:
    assert is_local(request("r"), slices=slices) is expected


MATCHING, DISTINCT = [{"matchAttribute": f"{GPU}/n"}], [{"distinctAttribute": f"{GPU}/n"}]
EVERY = request("r", allocationMode="All")


@pytest.mark.parametrize(
    ("requests", "constraints", "expected"),
    [
        pytest.param([request("r")], None, True, id="a device"),
        pytest.param([request("r", IS_1)], None, True, id="a selector with a value for every device"),
        pytest.param([request("r", "1 / 0 == 1")], None, False, id="a selector that fails"),
        pytest.param([request("r"), request("s", "1 / 0 == 1")], None, False, id="one of two that fails"),
        pytest.param([request("r")], MATCHING, True, id="a common value"),
        pytest.param([request("r")], DISTINCT, False, id="different values"),
        pytest.param([EVERY], None, True, id="all devices"),
        pytest.param([EVERY], MATCHING, False, id="all devices with a common value"),
        pytest.param(
            [any_of("r", one=request(""), every=request("", allocationMode="All"))],
            MATCHING,
            False,
            id="all devices as an alternative",
        ),
    ],
)
def test_claim_only_loses_by_what_others_take(
    requests: list[Object], constraints: list[Object] | None, expected: bool
) -> None:
    assert is_local(*requests, constraints=constraints) is expected


def test_pod_with_a_claim_that_others_may_name_is_not_local() -> None:
    references = [{"name": "gpu", "resourceClaimTemplateName": "t"}, {"name": "s", "resourceClaimName": "shared"}]

    assert not is_local(request("r"), resourceClaims=references)


def test_pod_whose_claim_is_at_fault_is_not_local() -> None:
    other = request("r")
    other["exactly"]["deviceClassName"] = "none"

    assert not is_local(other)
