"""What `explain pod` says of a member of a gang."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.explanation.subjects.pod import pod_table
from descheduler.explanation.subjects.pod_group import GangFacts
from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import pod_explanation, policy_of

NODES = [node_object("a", cpu="4"), node_object("b", cpu="4")]
POLICY: Object = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerConfiguration",
    "profiles": [
        {
            "name": "main",
            "pluginConfig": [
                {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                {"name": "MigrationController", "args": {"skipCheckExpectedReplicas": True}},
            ],
            "plugins": {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}},
        }
    ],
}


def gang_of(minimum: int, **annotations: str) -> Object:
    """PodGroup `train` with annotations of gangs."""
    keys = {f"gang.scheduling.koordinator.sh/{key.replace('_', '-')}": value for key, value in annotations.items()}
    metadata = {"name": "train", "namespace": "default", "annotations": keys}
    spec = {"minMember": minimum, "scheduleTimeoutSeconds": 30}
    return {"kind": "PodGroup", "apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "metadata": metadata, "spec": spec}


def member(name: str, **facts: Any) -> Object:
    """A pod of gang `train`, of koord-scheduler and of a ReplicaSet of its own."""
    labels = {POD_GROUP_LABEL: "train"}
    known = {"labels": labels, "scheduler": "koord-scheduler", "owners": [f"ReplicaSet/{name}"], "cpu": "1"}
    return pod_object(name, **{**known, **facts})


def replica_sets(names: Sequence[str]) -> list[Object]:
    """The owners of such pods, of three replicas each."""
    return [
        {
            "kind": "ReplicaSet",
            "apiVersion": "apps/v1",
            "metadata": {"name": name, "namespace": "default", "uid": f"replicaset-{name}"},
            "spec": {"replicas": 3},
        }
        for name in names
    ]


def test_gang_of_a_pod_is_named_with_its_minimum_and_its_pods() -> None:
    objects = [*NODES, gang_of(4, mode="NonStrict"), member("m0"), member("m1"), member("m2", node="")]

    gang = pod_explanation("m0", objects).facts.gang

    assert gang == GangFacts(
        name="default/train",
        group=("default/train",),
        min_member=4,
        mode="NonStrict",
        match_policy="once-satisfied",
        waiting_time_seconds=30.0,
        num_running=2,
        num_pending=1,
        num_missing=1,
    )


def test_pod_without_a_gang_has_none() -> None:
    assert pod_explanation("old", [*NODES, pod_object("old")]).facts.gang is None


def test_pending_pod_of_an_incomplete_gang_is_not_queued() -> None:
    placement = pod_explanation("m0", [*NODES, gang_of(3), member("m0", node=""), member("m1", node="")]).placement

    assert placement is not None
    assert not placement.is_queued
    assert placement.summary == (
        "not queued for scheduling: gangGroup [default/train] basic check: memberGangs [default/train] "
        "child pod not collect enough, current gang: default/train"
    )


def test_pending_pod_of_a_complete_gang_is_shown_as_it_is_tried_with_the_others() -> None:
    objects = [*NODES, gang_of(2), member("m0", node=""), member("m1", node="")]

    placement = pod_explanation("m0", objects).placement

    assert placement is not None
    assert placement.num_feasible == 2


def test_member_that_the_gang_needs_is_not_evicted() -> None:
    names = ["m0", "m1", "m2"]
    objects = [*NODES, gang_of(3), *map(member, names), *replica_sets(names)]

    decision = pod_explanation("m0", objects, policy_of(POLICY)).decision

    assert decision is not None
    assert [(answer.code, answer.subject) for answer in decision.answers] == [("GangMinimum", "default/train")]
    assert decision.answers[0].message == (
        "gang default/train has 3 pods running; it needs 3 (minMember), and 1 pod would be evicted"
        " (onGangMinimum: refuse)"
    )


def test_replacement_that_waits_for_its_gang_is_told_so() -> None:
    objects = [*NODES, gang_of(2, match_policy="only-waiting"), *map(member, ["m0", "m1", "m2"])]

    landing = pod_explanation("m0", objects).landing

    assert landing is not None
    assert landing.verdict == "no"
    assert "too few pods of gang default/train (1 of 2) can be scheduled together" in landing.message


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param('["", "default/train"]', "scheduled together with '' (an empty name in the group)", id="empty"),
        pytest.param('["default/train", "default/train"]', "0 missing", id="its own name alone"),
        pytest.param(str([f"a/{n:02}" for n in range(12)]).replace("'", '"'), "a/09, 2 more", id="many"),
    ],
)
def test_gangs_of_the_same_group_are_named(groups: str, expected: str) -> None:
    explanation = pod_explanation("m0", [*NODES, gang_of(1, groups=groups), member("m0")])

    (gang,) = (line for line in pod_table(explanation, TableStyle()) if line.startswith("Gang:"))

    assert gang.rstrip().endswith(expected)
