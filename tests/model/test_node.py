"""What a reservation leaves of a node (Koordinator's trim formula)."""

from __future__ import annotations

import pytest

from descheduler.model.node import NodeReservation
from tests.builders import make_node

NO_BATCH = {"kubernetes.io/batch-cpu": 0, "kubernetes.io/batch-memory": 0}


def reservation(withholds_amounts: bool = True, **amounts: int) -> NodeReservation:
    return NodeReservation(amounts, frozenset(), withholds_amounts)


def test_amounts_are_subtracted_and_never_below_zero() -> None:
    rest = reservation(cpu=3, memory=10).rest_of({"cpu": 8, "memory": 6, "pods": 110})

    assert rest == {"cpu": 5, "memory": 0, "pods": 110, **NO_BATCH}


def test_reserved_resource_that_the_node_lacks_is_there_as_zero() -> None:
    assert reservation(gpu=1).rest_of({"cpu": 8}) == {"cpu": 8, "gpu": 0, **NO_BATCH}


def test_batch_resources_stay_as_they_are_and_mid_resources_do_not() -> None:
    amounts = {"kubernetes.io/batch-cpu": 5, "kubernetes.io/mid-cpu": 5}
    allocatable = {"kubernetes.io/batch-cpu": 7, "kubernetes.io/batch-memory": 9, "kubernetes.io/mid-cpu": 7}

    rest = NodeReservation(amounts, frozenset(), withholds_amounts=True).rest_of(allocatable)

    assert rest == {**allocatable, "kubernetes.io/mid-cpu": 2}


def test_policy_for_pinned_cpus_only_leaves_the_amounts() -> None:
    assert reservation(withholds_amounts=False, cpu=3).rest_of({"cpu": 8}) == {"cpu": 8}


@pytest.mark.parametrize(
    ("annotation", "cpu"),
    [
        pytest.param('{"resources": {"cpu": "1"}}', 3, id="an amount"),
        pytest.param('{"resources": {"cpu": "3"}, "reservedCPUs": "0-1"}', 2, id="CPUs replace a larger amount"),
        pytest.param('{"reservedCPUs": "0,2-3"}', 1, id="CPUs without an amount"),
        pytest.param('{"resources": {"cpu": 1}, "applyPolicy": "Default"}', 3, id="the default policy by name"),
        pytest.param('{"resources": {"cpu": "1"}, "applyPolicy": "ReservedCPUsOnly"}', 4, id="pinned CPUs only"),
        pytest.param('{"resources": {"cpu": "1"}, "applyPolicy": "Other"}', 4, id="an unknown policy"),
    ],
)
def test_what_pods_may_request_of_a_node(annotation: str, cpu: int) -> None:
    node = make_node("a", cpu="4", annotations={"node.koordinator.sh/reservation": annotation})

    assert node.for_pods["cpu"] == cpu * 10**9
    assert node.allocatable["cpu"] == 4 * 10**9
