"""Claims of devices as the API gives them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from descheduler.cluster.decoding.resource_claims import decode_resource_claim, decode_resource_claim_template
from descheduler.model.pod import Owner
from descheduler.model.resource_claims import (
    AllocationResult,
    AttributeConstraint,
    ClaimAllocation,
    ClaimSpec,
    Consumer,
    DeviceId,
    DeviceRequest,
    DeviceStatus,
    RequestedDevices,
    ResourceClaim,
    ResourceClaimTemplate,
)
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement
from descheduler.model.selection.taints import Toleration
from tests.builders import Object

UNIT = 10**9
TOLERATION = {"key": "k", "operator": "Exists"}
IN_ZONE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
ZONE = (NodeSelectorTerm((Requirement("zone", "In", frozenset({"a"})),)),)
DEVICE = {"driver": "d", "pool": "p", "device": "x"}


def claim(*, metadata: Object | None = None, **parts: object) -> ResourceClaim:
    return decode_resource_claim(json.dumps({"metadata": {"name": "c"} | (metadata or {}), **parts}).encode())


def requested(*requests: Object, constraints: list[Object] | None = None) -> ClaimSpec:
    return claim(spec={"devices": {"requests": list(requests), "constraints": constraints}}).spec


def test_claim_that_says_nothing_asks_for_nothing() -> None:
    assert claim() == ResourceClaim("c", "")
    assert claim(spec={"devices": None}, status={"allocation": None}) == ResourceClaim("c", "")
    assert decode_resource_claim(b"{}") == ResourceClaim("", "")


def test_claim_says_whose_it_is() -> None:
    metadata = {
        "namespace": "n",
        "uid": "u",
        "deletionTimestamp": "2026-01-02T00:00:00Z",
        "ownerReferences": [{"kind": "Pod", "name": "p", "uid": "v", "apiVersion": "v1", "controller": True}, {}],
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
    }

    assert claim(metadata=metadata) == ResourceClaim(
        "c",
        "n",
        "u",
        owners=(Owner("Pod", "p", "v", "v1", controller=True), Owner("", "", "", "", controller=False)),
        is_terminating=True,
        is_of_extended_resource=True,
    )


@pytest.mark.parametrize("annotations", [None, {}, {"resource.kubernetes.io/extended-resource-claim": "false"}])
def test_claim_is_of_an_extended_resource_where_it_says_so(annotations: Object | None) -> None:
    assert not claim(metadata={"annotations": annotations}).is_of_extended_resource


FULL: Object = {
    "deviceClassName": "gpu",
    "allocationMode": "All",
    "count": 2,
    "adminAccess": True,
    "selectors": [{"cel": {"expression": "e"}}],
    "tolerations": [TOLERATION],
    "capacity": {"requests": {"m": "2"}},
}


def wanted(name: str = "") -> RequestedDevices:
    """What `FULL` asks for."""
    return RequestedDevices(
        name, "gpu", ("e",), True, 2, True, (Toleration("k", "Exists", "", "", None),), {"m": 2 * UNIT}
    )


@pytest.mark.parametrize(
    ("request_object", "value"),
    [
        pytest.param({}, DeviceRequest("", (RequestedDevices("", ""),)), id="nothing"),
        pytest.param({"name": "r", "exactly": FULL}, DeviceRequest("r", (wanted(),)), id="exactly"),
        pytest.param({"name": "r", **FULL}, DeviceRequest("r", (wanted(),)), id="as v1beta1 writes it"),
        pytest.param(
            {"name": "r", "firstAvailable": [{"name": "a", **FULL}, {}]},
            DeviceRequest("r", (wanted("a"), RequestedDevices("", "")), is_first_available=True),
            id="alternatives",
        ),
        pytest.param(
            {"exactly": {"count": 0, "allocationMode": "ExactCount"}},
            DeviceRequest("", (RequestedDevices("", "", number=1),)),
            id="no number",
        ),
        pytest.param(
            {"exactly": {"count": -5}}, DeviceRequest("", (RequestedDevices("", ""),)), id="a number below one"
        ),
    ],
)
def test_request_asks_for_devices(request_object: Object, value: DeviceRequest) -> None:
    assert requested(request_object).requests == (value,)


@pytest.mark.parametrize(
    ("constraint", "value"),
    [
        ({}, AttributeConstraint("")),
        ({"requests": ["r"], "matchAttribute": "a"}, AttributeConstraint("a", ("r",))),
        ({"distinctAttribute": "a"}, AttributeConstraint("a", is_distinct=True)),
    ],
)
def test_constraint_compares_an_attribute(constraint: Object, value: AttributeConstraint) -> None:
    assert requested(constraints=[constraint]).constraints == (value,)


def test_template_holds_the_spec_of_claims() -> None:
    wire = {"metadata": {"name": "t", "namespace": "n"}, "spec": {"spec": {"devices": {"requests": [{"name": "r"}]}}}}

    found = decode_resource_claim_template(json.dumps(wire).encode())

    assert found == ResourceClaimTemplate("t", "n", ClaimSpec((DeviceRequest("r", (RequestedDevices("", ""),)),)))
    assert decode_resource_claim_template(b"{}") == ResourceClaimTemplate("", "")


def test_allocation_says_which_devices_a_claim_has_and_where() -> None:
    result = {
        **DEVICE,
        "request": "r",
        "adminAccess": True,
        "shareID": "",
        "consumedCapacity": {"m": 1},
        "tolerations": [TOLERATION],
        "bindingConditions": ["b"],
        "bindingFailureConditions": ["f"],
    }
    allocation = {
        "devices": {"results": [result, {}]},
        "nodeSelector": IN_ZONE,
        "allocationTimestamp": "2026-01-02T00:00:00Z",
    }

    assert claim(status={"allocation": allocation}).allocation == ClaimAllocation(
        (
            AllocationResult(
                "r",
                DeviceId("d", "p", "x"),
                True,
                True,
                {"m": UNIT},
                (Toleration("k", "Exists", "", "", None),),
                ("b",),
                ("f",),
            ),
            AllocationResult("", DeviceId("", "", "")),
        ),
        ZONE,
        datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert claim(status={"allocation": {}}).allocation == ClaimAllocation()


def test_status_names_consumers_and_the_conditions_of_devices() -> None:
    conditions = [{"type": "Ready", "status": "True"}, {}]
    status = {
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}, {}],
        "devices": [{**DEVICE, "conditions": conditions}, {}],
    }

    found = claim(status=status)

    assert found.consumers == (Consumer("pods", "p", "u"), Consumer("", "", ""))
    assert found.statuses == (
        DeviceStatus(DeviceId("d", "p", "x"), {"Ready": "True", "": ""}),
        DeviceStatus(DeviceId("", "", "")),
    )
