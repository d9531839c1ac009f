"""`explain podgroup`: what a gang needs and has, and what keeps it from running."""

from __future__ import annotations

import pytest

from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.subjects.pod_group import PodGroupExplanation
from tests.builders import Object, node_object, pod_object
from tests.explanation.subjects.tables import explained, table
from tests.explanation.subjects.test_gangs import gang_of, member

VOLCANO = "scheduling.volcano.sh"

NODES = [node_object("a", cpu="4"), node_object("b", cpu="1")]


def volcano_group(minimum: int, **spec: object) -> Object:
    """PodGroup `train` of Volcano."""
    metadata = {"name": "train", "namespace": "default"}
    spec = {"minMember": minimum, **spec}
    return {"apiVersion": f"{VOLCANO}/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def pending(name: str, **facts: object) -> Object:
    """A member without a node."""
    return member(name, node="", phase="Pending", **facts)


def test_table_of_a_gang_that_waits_names_its_pods_and_what_refuses_them() -> None:
    objects = [*NODES, gang_of(4), member("m0", node="a"), member("m2", node="a"), pending("m1")]

    assert table("podgroup", "default/train", *objects).startswith(
        "Gang default/train (PodGroup of scheduling.sigs.k8s.io)\n"
        "MINMEMBER   RUNNING   PENDING   MISSING   MODE     MATCH POLICY     WAITING TIME\n"
        "4           2         1         1         Strict   once-satisfied   30s\n"
        "\n"
        "NAMESPACE   POD   NODE   PHASE\n"
        "default     m0    a      Running\n"
        "default     m1    -      Pending\n"
        "default     m2    a      Running\n"
        "\n"
        "1 pod does not exist yet of the 4 that it needs (minMember)\n"
        "2 pods run and minMember is 4: no single pod can be evicted (GangMinimum)\n"
        "\n"
        "placement of the pending pod m1: 2/2 nodes are available\n"
    )


def test_gang_with_more_than_it_needs_says_how_many_can_go() -> None:
    objects = [*NODES, gang_of(1), member("m0", node="a"), member("m1", node="a"), member("m2", node="a")]

    assert "2 pods can be evicted before it has fewer than it needs" in table("podgroup", "default/train", *objects)


@pytest.mark.parametrize(
    ("minimum", "num_running", "expected"),
    [
        pytest.param(3, 1, 1, id="the only pod leaves none behind"),
        pytest.param(-1, 2, 2, id="a minimum below 0"),
        pytest.param(3, 2, 0, id="too few already"),
    ],
)
def test_pods_that_can_go_are_those_that_a_run_lets_go(minimum: int, num_running: int, expected: int) -> None:
    objects = [*NODES, gang_of(minimum), *(member(f"m{index}", node="a") for index in range(num_running))]

    group = explained(PodGroupExplanation, "podgroup", "default/train", *objects)
    assert group.num_spare == expected


def test_gang_whose_pods_are_not_queued_says_why() -> None:
    objects = [*NODES, gang_of(3), pending("m0")]

    group = explained(PodGroupExplanation, "podgroup", "train", *objects)
    assert group.placement is not None
    assert not group.placement.is_queued
    assert group.notes == ("2 pods do not exist yet of the 3 that it needs (minMember)",)


def test_gang_that_nobody_describes_says_so() -> None:
    group = explained(PodGroupExplanation, "podgroup", "default/train", *NODES, pending("m0"))
    assert (group.source, group.num_spare) == ("none", None)
    assert group.notes == (
        "there is no PodGroup of this name, and no pod states a valid minMember: its pods are not scheduled",
    )


def test_gangs_of_its_group_that_do_not_exist_are_named() -> None:
    objects = [*NODES, gang_of(1, groups='["", "default/gone", "default/train"]'), member("m0")]

    group = explained(PodGroupExplanation, "podgroup", "default/train", *objects)
    assert group.notes == (
        "gang '' (an empty name) of its group does not exist",
        "gang default/gone of its group does not exist",
    )


def test_group_that_leaves_the_gang_itself_out_is_told() -> None:
    group = explained(PodGroupExplanation, "podgroup", "default/train", *NODES, gang_of(1, groups='["a/b"]'))
    assert "the group that it names does not contain it" in group.notes


def test_pods_of_a_scheduler_without_gangs_are_counted() -> None:
    objects = [*NODES, gang_of(1), member("m0", scheduler="default-scheduler")]

    assert "1 pod of scheduler default-scheduler, which schedules pods one by one (no Coscheduling)" in table(
        "podgroup", "default/train", *objects
    )


def test_gang_without_a_pod_group_is_known_by_its_pods() -> None:
    annotations = {"gang.scheduling.koordinator.sh/name": "crew", "gang.scheduling.koordinator.sh/min-available": "1"}
    pod = pod_object("p", annotations=annotations, scheduler="koord-scheduler", node="a")

    group = explained(PodGroupExplanation, "podgroup", "crew", *NODES, pod)
    assert (group.source, group.facts.min_member) == ("pods", 1)


def test_gang_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        explained(PodGroupExplanation, "podgroup", "shop/train", *NODES, gang_of(1))

    assert str(unknown.value) == "no PodGroup or gang 'shop/train' in objects; there is 'default/train'"


def test_several_pod_groups_of_one_name_are_asked_for_by_their_api_group() -> None:
    with pytest.raises(UnknownSubjectError) as several:
        explained(PodGroupExplanation, "podgroup", "default/train", *NODES, gang_of(1), volcano_group(2))

    assert str(several.value) == (
        "'default/train' is the name of several PodGroups; write podgroup.scheduling.sigs.k8s.io/default/train or"
        " podgroup.scheduling.volcano.sh/default/train"
    )


@pytest.mark.parametrize(
    ("api_group", "minimum"),
    [pytest.param("scheduling.sigs.k8s.io", 1, id="Koordinator"), pytest.param(VOLCANO, 2, id="Volcano")],
)
def test_api_group_of_the_question_chooses_the_pod_group(api_group: str, minimum: int) -> None:
    objects = [*NODES, gang_of(1), volcano_group(2)]

    group = explained(PodGroupExplanation, "podgroup", f"{api_group}:default/train", *objects)

    assert (group.source, group.api_group, group.facts.min_member) == ("PodGroup", api_group, minimum)


@pytest.mark.parametrize(
    ("api_group", "message"),
    [
        pytest.param(
            "scheduling.example.com",
            "PodGroups of 'scheduling.example.com' are not read; those of scheduling.sigs.k8s.io,"
            " scheduling.volcano.sh, scheduling.x-k8s.io, scheduling.k8s.io are",
            id="a group that is not read",
        ),
        pytest.param(VOLCANO, f"no PodGroup of {VOLCANO} 'default/train' in objects", id="a group without this name"),
    ],
)
def test_pod_group_of_another_api_group_is_not_shown_instead(api_group: str, message: str) -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        explained(PodGroupExplanation, "podgroup", f"{api_group}:default/train", *NODES, gang_of(1))

    assert str(unknown.value) == message


def test_gang_of_volcano_names_its_tasks() -> None:
    def worker(name: str, task: str) -> Object:
        annotations = {"scheduling.k8s.io/group-name": "train", "volcano.sh/task-spec": task}
        return pod_object(name, node="a", cpu="1", scheduler="volcano", annotations=annotations)

    group = volcano_group(4, minTaskMember={"ps": 1, "worker": 3})
    pods = [worker("m0", "ps"), worker("m1", "worker"), worker("m2", "worker")]

    assert table("podgroup", "train", *NODES, group, *pods) == (
        "Gang default/train (PodGroup of scheduling.volcano.sh)\n"
        "MINMEMBER   RUNNING   PENDING   MISSING   MODE   MATCH POLICY   WAITING TIME\n"
        "4           3         0         1         -      -              -\n"
        "\n"
        "NAMESPACE   POD   NODE   PHASE\n"
        "default     m0    a      Running\n"
        "default     m1    a      Running\n"
        "default     m2    a      Running\n"
        "\n"
        "task ps: 1 running, it needs 1 (minTaskMember)\n"
        "task worker: 2 running, it needs 3 (minTaskMember)\n"
        "1 pod does not exist yet of the 4 that it needs (minMember)\n"
        "3 pods run and minMember is 4: no single pod can be evicted (GangMinimum)\n"
    )


@pytest.mark.parametrize(("number", "more"), [(100, []), (101, ["1"]), (103, ["3"])])
def test_gangs_of_a_group_are_looked_at_up_to_a_number(number: int, more: list[str]) -> None:
    names = ", ".join(f'"a/{each:03}"' for each in range(number))
    objects = [*NODES, gang_of(1, groups=f'["default/train", {names}]'), member("m0")]

    found = explained(PodGroupExplanation, "podgroup", "default/train", *objects)

    assert len(found.others) == 100
    said = [note.split()[0] for note in found.notes if "not shown" in note]
    assert said == more


@pytest.mark.parametrize(
    ("number", "more"), [(20, ""), (21, "\n1 more pod; -o wide shows all"), (23, "\n3 more pods; -o wide shows all")]
)
def test_first_pods_of_a_gang_are_shown(number: int, more: str) -> None:
    objects = [*NODES, gang_of(1), *(member(f"m{each:02}", cpu="10m") for each in range(number))]

    text = table("podgroup", "default/train", *objects)

    assert text.count("default     m") == 20
    assert ("more pod" in text) is bool(more)
    assert more in text


def test_pods_that_are_about_to_go_are_said_to_be_and_do_not_count() -> None:
    objects = [*NODES, gang_of(2), member("m0"), member("m1", deleted=1), member("m2", phase="Succeeded")]

    found = explained(PodGroupExplanation, "podgroup", "default/train", *objects)

    assert (found.facts.num_running, found.facts.num_pending, found.facts.num_missing) == (1, 0, 1)
    assert "m1    a      Running, terminating" in table("podgroup", "default/train", *objects)


def test_pods_that_start_on_a_node_are_pending_and_can_be_spared() -> None:
    objects = [*NODES, gang_of(2), member("m0"), member("m1"), member("m2", phase="Pending", node="b")]

    found = explained(PodGroupExplanation, "podgroup", "default/train", *objects)

    assert (found.facts.num_running, found.facts.num_pending, found.num_spare) == (2, 1, 1)


def test_only_pod_of_a_group_on_a_node_can_go() -> None:
    alone = explained(PodGroupExplanation, "podgroup", "default/train", *NODES, gang_of(2), member("m0"))
    two = explained(PodGroupExplanation, "podgroup", "default/train", *NODES, gang_of(3), member("m0"), member("m1"))

    assert (alone.num_spare, two.num_spare) == (1, 0)


def test_exact_number_of_missing_pods_has_its_verb() -> None:
    one, two = (
        explained(PodGroupExplanation, "podgroup", "default/train", *NODES, gang_of(least), member("m0")).notes
        for least in (2, 3)
    )

    assert one[0].startswith("1 pod does not exist yet of the 2 that it needs")
    assert two[0].startswith("2 pods do not exist yet of the 3 that it needs")


def test_queue_that_exists_is_no_note() -> None:
    queue = {"apiVersion": f"{VOLCANO}/v1beta1", "kind": "Queue", "metadata": {"name": "team"}, "spec": {}}

    def notes(name: str, *queues: Object) -> tuple[str, ...]:
        objects = [*NODES, volcano_group(1, queue=name), *queues]
        return explained(PodGroupExplanation, "podgroup", "default/train", *objects).notes

    assert [note for note in notes("team", queue) if "queue" in note] == []
    assert [note for note in notes("gone", queue) if "queue" in note] != []
    assert [note for note in notes("gone") if "queue" in note] == []


def test_gang_of_the_group_that_its_pods_or_a_pod_group_name_exists() -> None:
    """Its pods state no minimum, or there are none yet."""
    named = member("n0", labels={"pod-group.scheduling.sigs.k8s.io": "other"})
    described = {**gang_of(1), "metadata": {"name": "other", "namespace": "default"}}
    train = gang_of(1, groups='["default/train", "default/other"]')

    def missing(*objects: Object) -> list[str]:
        found = explained(PodGroupExplanation, "podgroup", "default/train", *NODES, train, member("m0"), *objects)
        return [note for note in found.notes if "does not exist" in note]

    assert missing(described) == []
    assert missing() == ["gang default/other of its group does not exist"]
    assert missing(named) == []
