"""ReduceFragmentation of GPUs that pods share, by itself: what is stranded, and in which words that is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.builders import Object
from tests.planner.gpus.runs import gpu_node, gpu_snapshot, pending_pod, shared_pod
from tests.planner.objective_over import Asked, objective_over
from tests.planner.runs import verified

_SCHEDULERS = Path(__file__).resolve().parents[3] / "config" / "schedulers"
SHARED: Object = {"resource": "koordinator.sh/gpu"}


def fragments(
    nodes: Sequence[Sequence[Object]], pods: Sequence[Object], args: Object = SHARED, *, packs: bool = False
) -> Asked:
    found = gpu_snapshot(nodes, pods)
    scheduler = _SCHEDULERS / ("koord-scheduler-gpus.yaml" if packs else "koord-scheduler.yaml")
    policy = verified({"objectives": [{"reduceFragmentation": args}]}, scheduler=scheduler)
    return objective_over("reduceFragmentation", found.nodes, found.pods, policy=policy, devices=found.devices)


TWO = [gpu_node("a", 1), gpu_node("b", 1)]
HALVES = [shared_pod("p", "a", 50, 0), shared_pod("q", "b", 50, 0), pending_pod("whole", 100)]
"""Each node has half of a GPU free, which the pod that waits cannot use."""


def test_what_is_free_in_parts_that_pods_cannot_use_is_stranded() -> None:
    objective = fragments(TWO, HALVES).objective

    assert objective.tells_gpus_apart
    assert (objective.figure(), objective.scale, objective.nothing_to_do()) == (100, 3, "")
    assert objective.text_of(100) == "unusable free GPU capacity: 0.33 GPUs"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        pytest.param(3000, 1500, "2 → 1 GPU", id="another amount"),
        pytest.param(3000, 3000, "2 → 2 GPUs", id="the same amount"),
        pytest.param(3001, 3000, "2 GPUs → slightly less", id="a little less"),
        pytest.param(3000, 3001, "2 GPUs → slightly more", id="a little more"),
    ],
)
def test_a_change_is_said_in_words_where_no_decimals_show_it(before: int, after: int, text: str) -> None:
    objective = fragments(TWO, HALVES).objective
    objective.scale = 15

    assert objective.change(before, after) == f"unusable free GPU capacity: {text}"


@pytest.mark.parametrize(
    ("nodes", "pods", "args", "text"),
    [
        pytest.param(
            [gpu_node("a", 0)],
            [pending_pod("p", 100)],
            SHARED,
            "no node has a Device with GPUs (devices.scheduling.koordinator.sh)",
            id="no Devices",
        ),
        pytest.param(
            [gpu_node("a", 0)],
            [pending_pod("p", 100)],
            {"resource": "resource.k8s.io/devices"},
            "no node has devices of its own (resourceslices.resource.k8s.io)",
            id="no devices",
        ),
        pytest.param(TWO, [shared_pod("p", "a", 0)], SHARED, "no pod requests GPUs", id="no requests"),
        pytest.param(
            TWO,
            HALVES[:2],
            SHARED,
            "pods can use all free parts of GPUs",
            id="all can be used",
        ),
    ],
)
def test_it_is_said_where_nothing_is_stranded(
    nodes: Sequence[Sequence[Object]], pods: Sequence[Object], args: Object, text: str
) -> None:
    assert fragments(nodes, pods, args).objective.nothing_to_do() == text


def test_a_reason_has_what_is_free_on_the_gpus_of_the_node() -> None:
    """Of two GPUs of node a one is full, and node b is."""
    nodes = [gpu_node("a", 2), gpu_node("b", 1)]
    pods = [shared_pod("p", "a", 70, 0), shared_pod("full", "a", 100, 1), shared_pod("q", "b", 100, 0)]
    asked = fragments(nodes, [*pods, pending_pod("whole", 100)])

    assert asked.objective.reason(asked.pod("p")) == "GPU 0 is 30% free, and pods cannot use all of that"
    assert asked.objective.reason(asked.pod("q")) == "leaves parts of GPUs free on node b that pods can use"


@pytest.mark.parametrize("packs", [True, False])
def test_it_is_said_what_helps_where_the_scheduler_takes_idle_gpus_first(packs: bool) -> None:
    hint = fragments(TWO, HALVES, packs=packs).objective.hint

    assert hint.startswith("" if packs else "DeviceShare that scores with MostAllocated")
    assert bool(hint) is not packs


@pytest.mark.parametrize(
    ("nodes", "pods", "tells_apart"),
    [
        pytest.param(TWO, [*HALVES], True, id="a pod waits for a GPU"),
        pytest.param([gpu_node("a", 0)], HALVES[2:], False, id="no node lists GPUs"),
        pytest.param(TWO, HALVES[:2], False, id="none waits"),
    ],
)
def test_room_is_made_on_single_gpus_where_pods_wait_for_such(
    nodes: Sequence[Sequence[Object]], pods: Sequence[Object], tells_apart: bool
) -> None:
    """Over single GPUs no pod goes nowhere."""
    found = gpu_snapshot(nodes, pods)
    policy = verified({"objectives": [{"makeRoom": {}}]}, scheduler=_SCHEDULERS / "koord-scheduler.yaml")

    asked = objective_over("makeRoom", found.nodes, found.pods, policy=policy, devices=found.devices)

    assert asked.objective.tells_gpus_apart is tells_apart
    assert asked.objective.places_nowhere is not tells_apart
