"""From which nodes devices can be used, and for which devices constraints of claims are."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Owner
from descheduler.model.resource_claims import (
    AttributeConstraint,
    ClaimAllocation,
    DeviceId,
    NodeReach,
    ResourceClaim,
    ResourceSlice,
    SliceDevice,
    listed_taints,
)
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import make_requirement

IN_ZONE = NodeSelectorTerm((make_requirement("zone", "In", ["z"]),))
ELSEWHERE = NodeSelectorTerm((make_requirement("zone", "In", ["y"]),))
EMPTY = NodeSelectorTerm()
BROKEN = NodeSelectorTerm(error="values: must be given")


@pytest.mark.parametrize(
    ("reach", "holds"),
    [
        pytest.param(NodeReach("a"), True, id="the node by name"),
        pytest.param(NodeReach("b"), False, id="another node"),
        pytest.param(NodeReach("b", is_everywhere=True), False, id="a name goes before everything else"),
        pytest.param(NodeReach(terms=(ELSEWHERE, IN_ZONE)), True, id="one term that matches is enough"),
        pytest.param(NodeReach(terms=(ELSEWHERE,)), False, id="labels that the node does not have"),
        pytest.param(NodeReach(terms=(EMPTY,)), False, id="an empty term is for no node"),
        pytest.param(NodeReach(terms=(BROKEN,)), False, id="a broken term is for no node"),
        pytest.param(NodeReach(terms=(), is_everywhere=True), False, id="a selector without terms is for no node"),
        pytest.param(NodeReach(is_everywhere=True), True, id="all nodes"),
        pytest.param(NodeReach(), False, id="nothing is said"),
    ],
)
def test_device_can_be_used_from(reach: NodeReach, holds: bool) -> None:
    assert reach.holds("a", {"zone": "z"}) is holds


@pytest.mark.parametrize(
    ("allocation", "holds"),
    [
        pytest.param(ClaimAllocation(), True, id="no selector is for all nodes"),
        pytest.param(ClaimAllocation(terms=(IN_ZONE,)), True, id="its nodes"),
        pytest.param(ClaimAllocation(terms=(ELSEWHERE,)), False, id="other nodes"),
    ],
)
def test_allocation_can_be_used_from(allocation: ClaimAllocation, holds: bool) -> None:
    assert allocation.holds("a", {"zone": "z"}) is holds


@pytest.mark.parametrize(
    ("requests", "request_name", "choice", "concerns"),
    [
        pytest.param((), "gpu", "", True, id="without names it is for all devices"),
        pytest.param(("gpu",), "gpu", "", True, id="its request"),
        pytest.param(("gpu",), "gpu", "large", True, id="its request, whichever alternative was taken"),
        pytest.param(("gpu/large",), "gpu", "large", True, id="its alternative"),
        pytest.param(("gpu/large",), "gpu", "small", False, id="another alternative"),
        pytest.param(("gpu/large",), "gpu", "", False, id="a request without alternatives"),
        pytest.param(("gpu/",), "gpu", "", False, id="an alternative without a name is none"),
        pytest.param(("nic",), "gpu", "", False, id="another request"),
    ],
)
def test_constraint_is_for_devices_of(
    requests: tuple[str, ...], request_name: str, choice: str, concerns: bool
) -> None:
    assert AttributeConstraint("a/b", requests).concerns(request_name, choice) is concerns


@pytest.mark.parametrize(
    ("owner", "is_controlled"),
    [
        pytest.param(Owner("Pod", "p", "u", controller=True), True, id="the pod that controls it"),
        pytest.param(Owner("Pod", "p", "u"), False, id="an owner that does not control it"),
        pytest.param(Owner("Pod", "p", "v", controller=True), False, id="a later pod of that name"),
    ],
)
def test_claim_is_controlled_by_its_pod(owner: Owner, is_controlled: bool) -> None:
    assert ResourceClaim("p-gpu", "default", owners=(owner,)).is_controlled_by("u") is is_controlled


def test_taint_of_a_device_that_is_seen_at_an_older_generation_last_does_not_count() -> None:
    new, old = (
        ResourceSlice("s", "d", "p", generation, 1, NodeReach("a"), devices=(SliceDevice(f"gpu-{generation}"),))
        for generation in (2, 1)
    )

    assert list(listed_taints([new, old])) == [DeviceId("d", "p", "gpu-2")]
