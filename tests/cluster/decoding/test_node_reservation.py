"""Koordinator's annotation `node.koordinator.sh/reservation`."""

from __future__ import annotations

import pytest

from descheduler.cluster.decoding.blocks import decode_reservation
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.node import NodeReservation
from descheduler.model.quantity import NANO
from tests.builders import node_object


def test_cpus_replace_the_amount_of_cpu() -> None:
    text = '{"resources": {"cpu": "8", "memory": "1Gi"}, "reservedCPUs": "0-3,6"}'

    assert decode_reservation(text) == NodeReservation(
        {"cpu": 5 * NANO, "memory": 2**30 * NANO}, frozenset({0, 1, 2, 3, 6}), withholds_amounts=True
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("null", id="null"),
        pytest.param("{", id="invalid JSON"),
        pytest.param("[" * 100_000, id="JSON that is nested too deeply"),
        pytest.param('{"resources": {"cpu": "much"}}', id="an invalid quantity"),
        pytest.param('{"resources": {"cpu": "1"}, "reservedCPUs": "3-1"}', id="an invalid list of CPUs"),
        pytest.param('{"resources": {"cpu": "0", "memory": 0}}', id="amounts that are all zero"),
        pytest.param('{"applyPolicy": "Default"}', id="a policy alone"),
    ],
)
def test_what_is_invalid_or_zero_reserves_nothing(text: str) -> None:
    assert decode_reservation(text) is None


def test_snapshot_takes_reservations_off_on_request_and_once() -> None:
    node = node_object("a", cpu="4", annotations={"node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}}'})

    (trimmed,) = snapshot_from_objects([node], SnapshotRequest(trims_reservations=True)).nodes

    assert (trimmed.allocatable["cpu"], trimmed.capacity["cpu"]) == (3 * NANO, 4 * NANO)
    assert trimmed.for_pods == trimmed.allocatable
