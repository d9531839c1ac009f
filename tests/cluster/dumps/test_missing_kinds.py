"""What is said of kinds that a dump lacks."""

from __future__ import annotations

import io
import json

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from tests.builders import node_object

NEEDED = [
    "LimitRange",
    "Namespace",
    "PodDisruptionBudget.policy",
    "PriorityClass.scheduling.k8s.io",
    "ResourceQuota",
    "Service",
]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, ["1 kind is not in the dump and assumed to be empty: limitranges (", ");"]),
        (3, ["3 kinds are not in the dump", "limitranges (", "namespaces (", "poddisruptionbudgets.policy ("]),
        (
            4,
            ["4 kinds are", "limitranges, namespaces, poddisruptionbudgets.policy, priorityclasses.scheduling"],
        ),
        (5, ["5 kinds are", "priorityclasses.scheduling.k8s.io, resourcequotas;"]),
        (6, ["6 kinds are", "resourcequotas and 1 other ('descheduler run -o wide' lists them);"]),
    ],
)
def test_few_missing_kinds_are_explained_and_many_are_named(number: int, words: list[str]) -> None:
    text = io.BytesIO(json.dumps(node_object("a")).encode())

    (warning,) = read_dump(["-"], SnapshotRequest(frozenset(NEEDED[:number])), stdin=text).warnings

    assert [part for part in words if part not in warning] == []
