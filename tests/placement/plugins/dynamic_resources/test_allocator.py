"""Bounds of a search for devices, what is given back on the way, and claims that cannot be used or do not exist."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, decode_pod, node_object
from tests.placement.default_scheduler import default_scheduler
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    NO_DEVICE_OBJECTS,
    against,
    any_of,
    claim,
    claiming,
    claiming_object,
    device,
    device_class,
    devices_on,
    evaluate,
    request,
    scheduler_of,
    slice_of,
    template,
)

NODE, CLASS = node_object("a"), device_class()


def got(
    devices: list[Object], *requests: Object, version: KubeVersion | None = None, **claimed: Any
) -> list[str] | None:
    """What a pod with one claim of these requests gets; None where it does not fit."""
    world = NODE, CLASS, slice_of("a", *devices), claim("c", *requests, **claimed)
    return devices_on(scheduler_of(*world, version=version), claiming("p", "c")).get("a")


def plain(number: int) -> list[Object]:
    """So many devices that are alike."""
    return [device(f"d{index:02}") for index in range(number)]


@pytest.mark.parametrize(
    ("counts", "fits"),
    [
        pytest.param([32], True, id="as many as a claim may have"),
        pytest.param([33], False, id="one more"),
        pytest.param([16, 16], True, id="as many in two requests"),
        pytest.param([16, 17], False, id="one more in two requests"),
    ],
)
def test_claim_has_32_devices_at_most(counts: list[int], fits: bool) -> None:
    asked = [request(f"r{index}", count=count) for index, count in enumerate(counts)]

    assert (got(plain(40), *asked) is not None) is fits


@pytest.mark.parametrize(("many", "taken"), [(31, 31), (32, 2)])
def test_alternative_with_which_a_claim_has_too_many_is_passed_over(many: int, taken: int) -> None:
    found = got(plain(40), any_of("r", many=request("", count=many), few=request("", count=2)), request("s"))

    assert found is not None
    assert len(found) == taken + 1


def numbered(**numbers: int) -> list[Object]:
    """Devices with a number each, and their own name."""
    return [device(name, {"n": number, "id": name}) for name, number in numbers.items()]


ONLY_Z = f"device.attributes['{GPU}'].id == 'z'"


def test_device_of_another_request_that_is_given_back_leaves_the_values_of_a_constraint() -> None:
    """`r` has two different numbers; `s`, which may have any, gives a device of one of these numbers back."""
    apart = [{"distinctAttribute": f"{GPU}/n", "requests": ["r"]}]
    asked = request("r", count=2), request("s"), request("t", ONLY_Z)

    found = got(numbered(x=1, z=2, y=1, w=3), *asked, constraints=apart, version=KubeVersion(1, 37))

    assert found == ["r=x", "r=w", "s=y", "t=z"]


def test_device_that_is_given_back_leaves_the_common_value_of_a_constraint() -> None:
    alike = [{"matchAttribute": f"{GPU}/n", "requests": ["r"]}]
    asked = request("r", count=2), request("s"), request("t", ONLY_Z)

    assert got(numbered(x=1, y=1, z=2, w=3), *asked, constraints=alike) == ["r=x", "r=y", "s=w", "t=z"]
    assert got(numbered(x=1, z=2, y=2), request("r", count=2), constraints=alike) == ["r=z", "r=y"]


def test_device_without_the_attribute_meets_no_constraint_on_its_request() -> None:
    devices = [device("x"), *numbered(y=1, z=1)]
    alike = [{"matchAttribute": f"{GPU}/n"}]

    assert got(devices, request("r", count=2), constraints=alike) == ["r=y", "r=z"]
    assert got(devices, request("r", count=3), constraints=alike) is None
    assert got(devices, request("r", count=3), constraints=[{"matchAttribute": f"{GPU}/n", "requests": ["s"]}]) == [
        "r=x",
        "r=y",
        "r=z",
    ]


def test_all_devices_are_taken_or_none() -> None:
    every = request("r", allocationMode="All")
    in_use = claim("old", request("r"), devices=["d00"])
    world = NODE, CLASS, slice_of("a", *plain(2)), claim("c", every)

    assert got(plain(3), every) == ["r=d00", "r=d01", "r=d02"]
    assert got(plain(3), every, request("s")) is None
    assert got([], every) is None
    assert devices_on(scheduler_of(*world, in_use), claiming("p", "c")) == {}


@pytest.mark.parametrize(
    ("conditions", "is_open"),
    [
        pytest.param({}, True, id="nothing is said of it"),
        pytest.param({"broken": "False"}, True, id="binding did not fail"),
        pytest.param({"broken": "True"}, False, id="binding failed"),
    ],
)
def test_allocated_claim_is_of_no_use_once_binding_a_device_has_failed(
    conditions: dict[str, str], is_open: bool
) -> None:
    made = claim("c", request("r"), devices=["x"])
    (result,) = made["status"]["allocation"]["devices"]["results"]
    result |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
    stated = [{"type": kind, "status": status} for kind, status in conditions.items()]
    made["status"]["devices"] = [{"driver": GPU, "pool": "a", "device": "x", "conditions": stated}]

    found = against(scheduler_of(NODE, CLASS, slice_of("a", device("x")), made), claiming("p", "c"))

    assert found == ({} if is_open else {"a": ("resourceclaim not available on the node",)})


def with_template(name: str) -> Object:
    """A pod whose claim is to be made from a template."""
    pod = claiming_object(name)
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    return pod


@pytest.mark.parametrize(
    ("objects", "kinds", "ending"),
    [
        pytest.param([template("t", request("r"))], {}, "", id="the template exists"),
        pytest.param([], {}, ", which does not exist either", id="no template exists"),
        pytest.param([], {"ResourceClaimTemplateList"}, "", id="templates were not read"),
    ],
)
def test_claim_that_was_not_made_is_told_with_who_makes_it(objects: list[Object], kinds: set[str], ending: str) -> None:
    lists = [each for each in NO_DEVICE_OBJECTS if each["kind"] not in kinds]
    snapshot = snapshot_from_objects([NODE, CLASS, slice_of("a", device("x")), *objects, *lists])
    evaluation = evaluate(default_scheduler(shadow_cluster_of(snapshot, PLUGINS)), decode_pod(with_template("p")))

    (refusal,) = evaluation.refusals

    assert refusal.reasons == ('pod "default/p": ResourceClaim not created yet',)
    assert evaluation.cycle.notes == [
        "claim gpu does not exist yet: kube-controller-manager creates it from ResourceClaimTemplate t" + ending
    ]


def test_claims_that_exist_are_not_said_to_be_unmade() -> None:
    pod = with_template("p")
    pod["spec"]["resourceClaims"] += [
        {"name": "own", "resourceClaimName": "c"},
        {"name": "made", "resourceClaimTemplateName": "t"},
    ]
    pod["status"]["resourceClaimStatuses"] = [{"name": "made", "resourceClaimName": "m"}]
    scheduler = scheduler_of(NODE, CLASS, template("t", request("r")), claim("c", request("r")))

    notes = evaluate(scheduler, decode_pod(pod)).cycle.notes

    assert [note.partition(":")[0] for note in notes] == ["claim gpu does not exist yet"]


@pytest.mark.parametrize(
    ("shared", "version", "expected"),
    [
        pytest.param(True, KubeVersion(1, 37), None, id="one that is short is wanted as well"),
        pytest.param(True, KubeVersion(1, 36), ["r=y"], id="in 1.36 it is left out"),
        pytest.param(False, KubeVersion(1, 36), None, id="one in use is wanted as well in 1.36"),
    ],
)
def test_all_devices_are_those_that_have_the_capacity(
    shared: bool, version: KubeVersion, expected: list[str] | None
) -> None:
    devices = [
        device(name, capacity={"memory": {"value": "10"}}, allowMultipleAllocations=shared) for name in ("x", "y")
    ]
    old = claim("old", request("r"), devices=["x"])
    if shared:
        old["status"]["allocation"]["devices"]["results"][0] |= {"shareID": "0", "consumedCapacity": {"memory": "8"}}
    every = request("r", allocationMode="All", capacity={"requests": {"memory": "5"}})
    world = NODE, CLASS, slice_of("a", *devices), old, claim("c", every)

    assert devices_on(scheduler_of(*world, version=version), claiming("p", "c")).get("a") == expected
