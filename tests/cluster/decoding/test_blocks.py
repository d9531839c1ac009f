"""Parts that objects of many kinds have."""

from __future__ import annotations

import pytest

from descheduler.cluster.decoding.blocks import (
    BlockNumbers,
    decode_amounts,
    decode_features,
    decode_images,
    decode_labels,
    decode_owners,
    decode_quantities,
    decode_quantity,
    decode_reservation,
    decode_resources,
    decode_stored_resources,
    decode_tolerations,
)
from descheduler.model.node import NodeReservation
from descheduler.model.pod import Owner
from descheduler.model.quantity import QuantityError
from descheduler.model.requests import ContainerResources
from descheduler.model.selection.taints import Toleration

CORE = 10**9


def test_blocks_are_numbered_as_they_come() -> None:
    numbers = BlockNumbers()

    assert [numbers[block] for block in (b"a", b"b", b"a", b"c")] == [1, 2, 1, 3]


def test_null_is_nothing_of_each_kind() -> None:
    assert decode_labels(b"null") == {}
    assert decode_quantities(b"null") == {}
    assert decode_quantity(b"null") is None
    assert decode_images(b"null") == {}
    assert decode_features(b"null") == frozenset()
    assert decode_resources(b"null") == decode_stored_resources(b"null") == ContainerResources({}, {})
    assert decode_owners(b"null") == ()
    assert decode_tolerations(b"null") == ()


def test_null_within_a_block_is_nothing_too() -> None:
    assert decode_labels(b'{"a": null, "b": "c"}') == {"a": "", "b": "c"}
    assert decode_quantities(b'{"cpu": null, "memory": " 1 ", "pods": 2}') == {
        "cpu": 0,
        "memory": CORE,
        "pods": 2 * CORE,
    }
    assert decode_images(b'[{"names": ["a", "b"], "sizeBytes": 5}, {"names": ["c"]}, {}]') == {"a": 5, "b": 5, "c": 0}
    assert decode_owners(b"[{}]") == (Owner("", "", "", "", False),)
    assert decode_tolerations(b"[{}]") == (Toleration("", "", "", "", None),)


def test_whole_blocks_are_read() -> None:
    owner = b'[{"kind": "Job", "name": "j", "uid": "u", "apiVersion": "batch/v1", "controller": true}]'
    toleration = b'[{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 0}]'
    resources = b'{"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}'

    assert decode_owners(owner) == (Owner("Job", "j", "u", "batch/v1", True),)
    assert decode_tolerations(toleration) == (Toleration("k", "Equal", "v", "NoExecute", 0),)
    assert decode_features(b'["a", "b"]') == {"a", "b"}
    assert decode_resources(resources) == ContainerResources({"cpu": CORE}, {"cpu": 2 * CORE})
    assert decode_stored_resources(resources) == ContainerResources({"cpu": CORE}, {"cpu": 2 * CORE})


def test_amount_below_zero_is_in_no_object_that_is_stored() -> None:
    assert decode_amounts(b'{"cpu": 0}') == {"cpu": 0}
    for block in (b'{"requests": {"cpu": "-1"}}', b'{"limits": {"cpu": "-1"}}'):
        assert decode_resources(block)
        with pytest.raises(QuantityError, match="cpu is -1, and a quantity of a resource is not below zero"):
            decode_stored_resources(block)


@pytest.mark.parametrize(
    ("text", "reservation"),
    [
        ("", None),
        ("{", None),
        ("null", None),
        ("{}", None),
        ('{"resources": {"cpu": 0}}', None),
        ('{"resources": {"cpu": "?"}}', None),
        ('{"reservedCPUs": "x"}', None),
        ('{"resources": {"cpu": 0, "memory": 1}}', NodeReservation({"cpu": 0, "memory": CORE}, frozenset(), True)),
        ('{"resources": {"cpu": 9}, "reservedCPUs": "0-1"}',
         NodeReservation({"cpu": 2 * CORE}, frozenset({0, 1}), True)),
        ('{"resources": {"cpu": 1}, "applyPolicy": ""}', NodeReservation({"cpu": CORE}, frozenset(), True)),
        ('{"resources": {"cpu": 1}, "applyPolicy": "Default"}', NodeReservation({"cpu": CORE}, frozenset(), True)),
        ('{"resources": {"cpu": 1}, "applyPolicy": "ReservedCPUsOnly"}',
         NodeReservation({"cpu": CORE}, frozenset(), False)),
    ],
)  # fmt: skip
def test_reservation_of_a_node_is_what_its_annotation_withholds(text: str, reservation: NodeReservation | None) -> None:
    assert decode_reservation(text) == reservation
