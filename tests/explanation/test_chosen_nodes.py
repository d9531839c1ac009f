"""Explanations of a run whose plan chooses the nodes of replacement pods."""

from __future__ import annotations

from typing import Any

from tests.builders import Object, node_object, pod_object
from tests.e2e.stored_workloads import replica_set, running_pod
from tests.explanation.questions import node_explanation, pod_explanation, policy_of

_HELD = {"reservationProvider": "koordinator", "schedulerNames": ["default-scheduler"]}


def consolidation() -> dict[str, Any]:
    """A policy that empties nodes onto nodes that it chooses."""
    planner = {"objectives": [{"consolidateNodes": {}}], "timeLimit": "1s", "chooseNodes": True}
    profile = {
        "name": "main",
        "pluginConfig": [
            {"name": "MigrationPlanner", "args": planner},
            {"name": "MigrationController", "args": _HELD},
        ],
        "plugins": {"balance": {"enabled": [{"name": "MigrationPlanner"}]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}


def spread_out() -> list[Object]:
    """A workload with a pod on each node; the scheduler would place what is evicted onto the emptier one again."""
    containers = [{"name": "web", "resources": {"requests": {"cpu": "1"}}}]
    web = replica_set(
        "web",
        "default",
        replicas=2,
        template={"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
    )
    pods = [running_pod(web, number, node) for number, node in enumerate("ab")]
    for pod in pods:
        pod["metadata"]["uid"] = pod["metadata"]["name"]
    bare = pod_object("bare", node="a", cpu="1", owners=[])
    return [*(node_object(name) for name in "ab"), web, *pods, bare]


def test_the_replacement_of_a_pod_is_scheduled_onto_the_chosen_node() -> None:
    landing = pod_explanation("web-01", spread_out(), policy_of(consolidation())).landing

    assert landing is not None
    assert (landing.summary, landing.notes) == (
        "the replacement pod can be scheduled onto a",
        ("the plan has chosen a (chooseNodes: true); the Reservation that holds room there is not part of the scores",),
    )


def test_a_chosen_node_receives_the_pods() -> None:
    explanation = node_explanation("a", spread_out(), policy_of(consolidation()))

    assert [arrival.pod.name for arrival in explanation.arrivals] == ["web-01"]
