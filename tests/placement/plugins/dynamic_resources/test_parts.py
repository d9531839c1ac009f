"""Devices of claims as parts of a node: whole GPUs, and halves of one card."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.dynamic_resources.parts import ClaimParts
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    claim,
    claiming_object,
    device,
    device_class,
    request,
    slice_of,
)


def node_with_devices() -> list[Object]:
    """Two GPUs, which are the parts 0 and 1, and a card in two halves, the part 2."""
    half: Object = {"consumesCounters": [{"counterSet": "card", "counters": {"parts": {"value": "1"}}}]}
    counters = [{"name": "card", "counters": {"parts": {"value": "2"}}}]
    devices = [device("gpu-0"), device("gpu-1"), device("half-0", **half), device("half-1", **half)]
    pieces = [slice_of("a", *devices), slice_of("a", name="counters", sharedCounters=counters)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    return [node_object("a"), device_class(), *pieces]


def parts_held(claims: Sequence[Sequence[str]], *others: str) -> tuple[int, ...]:
    """The parts of a pod that has claims with these devices; the pods `others` use the first claim too."""
    names = [f"c{number}" for number in range(len(claims))]
    pod = claiming_object("p", *names, phase="Running")
    pod["spec"]["nodeName"] = "a"
    own = pod["metadata"]["uid"]
    made = [
        claim(name, request("r"), devices=devices, consumers=[own, *others] if name == "c0" else [own])
        for name, devices in zip(names, claims, strict=True)
    ]
    snapshot = snapshot_from_objects([*node_with_devices(), pod, *made, *NO_DEVICE_OBJECTS])
    (placed,) = snapshot.pods
    return ClaimParts(shadow_cluster_of(snapshot, PLUGINS)).held_by(placed)


@pytest.mark.parametrize(
    ("claims", "held"),
    [
        pytest.param([["gpu-1"]], (1,), id="a GPU"),
        pytest.param([["gpu-1", "gpu-0"]], (0, 1), id="two GPUs of one claim"),
        pytest.param([["half-1"], ["gpu-0"]], (0, 2), id="half of the card and a GPU by two claims"),
        pytest.param([["half-0", "half-1"]], (), id="both halves of the card by one claim"),
        pytest.param([["half-0"], ["half-1"]], (), id="both halves of the card by two claims"),
    ],
)
def test_a_pod_holds_the_parts_of_its_devices_where_each_is_of_another_part(
    claims: list[list[str]], held: tuple[int, ...]
) -> None:
    assert parts_held(claims) == held


def test_a_pod_holds_no_parts_of_a_claim_that_another_pod_uses_too() -> None:
    assert parts_held([["gpu-0"]], "uid-of-another") == ()
    assert parts_held([["gpu-0"], ["gpu-1"]], "uid-of-another") == ()
