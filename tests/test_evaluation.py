"""The Python API: what it takes, and what it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from descheduler import PolicyError, SnapshotError, evaluate
from tests.builders import NOW, node_object, pod_object
from tests.report.decided_cycles import pod_life_time_policy

POLICY = pod_life_time_policy()
OBJECTS = [
    node_object("a"),
    node_object("b"),
    pod_object("old", node="a"),
    pod_object("bare", node="a", owners=()),
    {"apiVersion": "example.com/v1", "kind": "Unheard", "metadata": {"name": "x"}},
]


def write(file: Path, content: object) -> Path:
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda folder: POLICY, id="an object"),
        pytest.param(lambda folder: json.dumps(POLICY), id="text"),
        pytest.param(lambda folder: write(folder / "p.yaml", POLICY), id="a path"),
        pytest.param(lambda folder: str(write(folder / "p.yaml", POLICY)), id="a path as a string"),
        pytest.param(lambda folder: str(write(folder / "policy", POLICY)), id="a path without a suffix"),
    ],
)
def test_policy_may_be_given_as(form: Callable[[Path], Any], tmp_path: Path) -> None:
    result = evaluate(form(tmp_path), OBJECTS, now=NOW)

    assert [eviction.name for eviction in result.evictions] == ["old"]


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda folder: iter(OBJECTS), id="an iterator"),
        pytest.param(lambda folder: [{"apiVersion": "v1", "kind": "List", "items": OBJECTS}], id="lists among them"),
        pytest.param(lambda folder: {"apiVersion": "v1", "kind": "List", "items": OBJECTS}, id="one list"),
        pytest.param(lambda folder: write(folder / "dump.json", OBJECTS), id="the path of a dump"),
        pytest.param(lambda folder: str(write(folder / "dump.json", OBJECTS)), id="the path as a string"),
    ],
)
def test_cluster_may_be_given_as(form: Callable[[Path], Any], tmp_path: Path) -> None:
    result = evaluate(POLICY, form(tmp_path), now=NOW)

    assert [eviction.name for eviction in result.evictions] == ["old"]


def test_decisions_have_the_documented_attributes() -> None:
    result = evaluate(POLICY, OBJECTS, now=NOW)

    (eviction,), (refusal,) = result.evictions, result.refusals
    assert (eviction.namespace, eviction.name, eviction.node) == ("default", "old", "a")
    assert (eviction.profile, eviction.plugin, eviction.target_node) == ("main", "PodLifeTime", "b")
    assert eviction.reason == "1 h old (maxPodLifeTimeSeconds: 60)"
    assert (refusal.namespace, refusal.name, refusal.plugin, refusal.code) == (
        "default",
        "bare",
        "PodLifeTime",
        "BarePod",
    )
    assert refusal.message
    assert [move.pod.name for move in result.plan.moves] == ["old"]


def test_problems_of_a_policy_have_path_line_and_message() -> None:
    with pytest.raises(PolicyError) as caught:
        evaluate("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: 3\n", OBJECTS, now=NOW)

    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.message) == ("<policy>", 3, "expected a list, found number 3")


def test_policy_file_that_is_not_there_is_named() -> None:
    with pytest.raises(PolicyError, match=r"^nowhere.yaml: no such file"):
        evaluate("nowhere.yaml", OBJECTS, now=NOW)


def test_what_is_no_object_is_refused() -> None:
    objects: Any = [3]

    with pytest.raises(SnapshotError, match=r"objects\[0\]"):
        evaluate(POLICY, objects, now=NOW)


def test_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        evaluate(POLICY, OBJECTS, now=NOW.replace(tzinfo=None))
