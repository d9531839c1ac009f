"""Devices of Koordinator as the API gives them."""

from __future__ import annotations

import json

import pytest

from descheduler.cluster.decoding.koordinator.devices import decode_device
from descheduler.model.koordinator.devices import GpuPartition, PartitionTable


@pytest.mark.parametrize(
    ("text", "table"),
    [
        pytest.param(
            '{"2": [{"minors": [0, 1], "allocationScore": 3}]}', {2: (GpuPartition((0, 1), 3, None),)}, id="with minors"
        ),
        pytest.param('{"1": [{}], "2": null}', {1: (GpuPartition((), 0, None),), 2: ()}, id="without anything"),
        pytest.param("[", None, id="that is no JSON"),
    ],
)
def test_partitions_of_gpus_are_read_by_their_size(text: str, table: PartitionTable | None) -> None:
    annotations = {"scheduling.koordinator.sh/gpu-partitions": text}

    device = decode_device(json.dumps({"metadata": {"name": "a", "annotations": annotations}, "spec": {}}).encode())

    assert device.partitions == table


@pytest.mark.parametrize(("policy", "is_honored"), [("Honor", True), ("Prefer", False)])
def test_partitions_bind_only_where_the_node_says_so(policy: str, is_honored: bool) -> None:
    labels = {"node.koordinator.sh/gpu-partition-policy": policy}

    device = decode_device(json.dumps({"metadata": {"name": "a", "labels": labels}, "spec": {}}).encode())

    assert device.honors_partitions is is_honored
