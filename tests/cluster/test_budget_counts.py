"""Budgets of manifests, which have no status, are counted as the disruption controller would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from tests.builders import Object, node_object, pod_object

APP = {"app": "x"}
COUNTED = "no PodDisruptionBudget in the dump has a status, as in manifests"


def budget(spec: Object, name: str = "b", **fields: Any) -> Object:
    metadata = {"name": name, "namespace": "default", "generation": 1}
    selector = {"selector": {"matchLabels": APP}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": selector | spec,
    } | fields


def workload(kind: str, name: str, replicas: int, owner: str = "") -> Object:
    owners = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": owner, "controller": True}]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": owners if owner else []},
        "spec": {"replicas": replicas, "selector": {"matchLabels": APP}},
    }


def pod(name: str, owner: str, **facts: Any) -> Object:
    """A pod of the budget; the uid of its owner is the owner's name."""
    made = pod_object(name, node="a", labels=APP, owners=[owner] if owner else (), **facts)
    for each in made["metadata"].get("ownerReferences", ()):
        each["uid"] = each["name"]
    return made


def dump(folder: Path, *objects: Object) -> Snapshot:
    file = folder / "dump.json"
    items = [node_object("a"), *objects]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return read_dump([file])


def figures(snapshot: Snapshot) -> tuple[int | None, ...]:
    """Allowed, healthy, desired and expected pods."""
    (found,) = snapshot.budgets
    return found.disruptions_allowed, found.current_healthy, found.desired_healthy, found.expected_pods


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"maxUnavailable": 1}, (0, 2, 3, 4), id="of the replicas, two of which are not there"),
        pytest.param({"maxUnavailable": "50%"}, (0, 2, 2, 4), id="a share of the replicas"),
        pytest.param({"maxUnavailable": "51%"}, (1, 2, 1, 4), id="rounded up"),
        pytest.param({"maxUnavailable": "200%"}, (2, 2, 0, 4), id="more than there are"),
        pytest.param({"minAvailable": "26%"}, (0, 2, 2, 4), id="a share that has to be there, rounded up, too"),
        pytest.param({"minAvailable": 1}, (1, 2, 1, 2), id="a number, of the pods that there are"),
        pytest.param({"minAvailable": 3}, (0, 2, 3, 2), id="a number of more than there are"),
        pytest.param({"minAvailable": 0}, (2, 2, 0, 2), id="none of the pods that there are"),
        pytest.param({"minAvailable": "0%"}, (2, 2, 0, 4), id="no share"),
        pytest.param({"maxUnavailable": 0}, (0, 2, 4, 4), id="none that may be missing"),
        pytest.param({"maxUnavailable": 9}, (2, 2, 0, 4), id="a number of more that may be missing"),
        pytest.param({}, (0, 2, 0, 0), id="nothing asked for"),
    ],
)
def test_budget_is_counted_from_its_spec(tmp_path: Path, spec: Object, expected: tuple[int, ...]) -> None:
    owners = workload("Deployment", "web", 4), workload("ReplicaSet", "web-1", 2, "web")
    pods = [pod(name, "ReplicaSet/web-1") for name in "pq"]

    snapshot = dump(tmp_path, budget(spec), *owners, *pods)

    assert figures(snapshot) == expected
    assert [warning for warning in snapshot.warnings if warning.startswith(COUNTED)] != []


def test_workload_that_the_dump_does_not_hold_has_the_pods_that_there_are(tmp_path: Path) -> None:
    pods = [pod(name, "StatefulSet/db") for name in "pq"]

    assert figures(dump(tmp_path, budget({"maxUnavailable": 1}), *pods)) == (1, 2, 1, 2)


@pytest.mark.parametrize(
    ("spec", "owner", "why"),
    [
        ({"maxUnavailable": 1}, "Job/work", "SyncFailed (jobs.batch does not implement the scale subresource)"),
        (
            {"minAvailable": "50%"},
            "DaemonSet/x",
            "SyncFailed (daemonsets.apps does not implement the scale subresource)",
        ),
        ({"minAvailable": 0}, "Job/work", ""),
        ({"maxUnavailable": 1}, "", "its pods have no controller with replicas (maxUnavailable: 1 needs one)"),
        ({}, "Job/work", "its spec states neither minAvailable nor maxUnavailable"),
        ({"maxUnavailable": "half"}, "", "SyncFailed (maxUnavailable: half is not a number or a percentage)"),
    ],
)
def test_budget_over_pods_without_a_scale(tmp_path: Path, spec: Object, owner: str, why: str) -> None:
    (found,) = dump(tmp_path, budget(spec), pod("p", owner)).budgets

    assert found.why_never == why
    assert bool(found.disruptions_allowed) is (why == "")


def test_beside_a_budget_with_a_status_one_without_is_new(tmp_path: Path) -> None:
    status = {"observedGeneration": 1, "disruptionsAllowed": 1}
    known, new = budget({"maxUnavailable": 1}, "b", status=status), budget({"maxUnavailable": 1}, "c")

    snapshot = dump(tmp_path, known, new, pod("p", "ReplicaSet/web"))

    assert [(each.disruptions_allowed, each.has_status) for each in snapshot.budgets] == [(1, True), (None, True)]
    assert COUNTED not in " ".join(snapshot.warnings)


def test_empty_status_is_that_of_a_new_budget(tmp_path: Path) -> None:
    snapshot = dump(tmp_path, budget({"maxUnavailable": 1}, status={}), pod("p", "ReplicaSet/web"))

    assert figures(snapshot)[0] is None


def test_only_pods_that_are_ready_and_stay_are_healthy(tmp_path: Path) -> None:
    pods = [
        pod("p", "StatefulSet/db"),
        pod("q", "StatefulSet/db", ready=False),
        pod("r", "StatefulSet/db", deleted=5),
    ]

    assert figures(dump(tmp_path, budget({"maxUnavailable": 3}), *pods)) == (1, 1, 0, 3)


def test_budget_over_no_pods_allows_nothing(tmp_path: Path) -> None:
    assert figures(dump(tmp_path, budget({"maxUnavailable": 1}))) == (0, 0, 0, 0)
    assert figures(dump(tmp_path, budget({"minAvailable": 0}))) == (0, 0, 0, 0)


def test_replicas_of_each_workload_count_once(tmp_path: Path) -> None:
    owners = workload("Deployment", "web", 4), workload("ReplicaSet", "web-1", 2, "web"), workload("ReplicaSet", "s", 3)
    pods = [pod("p", "ReplicaSet/web-1"), pod("q", "ReplicaSet/web-1"), pod("r", "ReplicaSet/s")]

    assert figures(dump(tmp_path, budget({"maxUnavailable": 1}), *owners, *pods)) == (0, 3, 6, 7)


@pytest.mark.parametrize("text", ["50", "%", "1.5%", "-5%", "1234567890%", "５%", "50%x"])
def test_text_that_is_no_percentage_is_a_fault(tmp_path: Path, text: str) -> None:
    for rule in ("minAvailable", "maxUnavailable"):
        (found,) = dump(tmp_path, budget({rule: text}), pod("p", "ReplicaSet/web")).budgets

        assert found.why_never.startswith(f"SyncFailed ({rule}: {text} is not a number or a percentage")
