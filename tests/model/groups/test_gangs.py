"""Which gangs a pod belongs to, and what these need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.groups.gangs import (
    AllGangs,
    GangMinimum,
    api_group_of,
    gang_name_of,
    gangs_of,
    name_of_gang,
    pod_group_kind_of,
)
from descheduler.model.groups.volcano import VolcanoPodGroup
from descheduler.model.koordinator.gang_settings import PodGroup
from tests.builders import make_pod

VOLCANO, SCHEDULER_PLUGINS = "scheduling.volcano.sh", "scheduling.x-k8s.io"
IN_VOLCANO = {"scheduling.k8s.io/group-name": "train"}


@pytest.mark.parametrize(
    ("facts", "keys", "kind"),
    [
        pytest.param({"annotations": IN_VOLCANO}, [f"{VOLCANO}:default/train"], f"PodGroup.{VOLCANO}", id="Volcano"),
        pytest.param(
            {"annotations": {**IN_VOLCANO, "volcano.sh/task-spec": "ps"}, "labels": {"volcano.sh/task-spec": "worker"}},
            [f"{VOLCANO}:default/train", f"{VOLCANO}:default/train#ps"],
            f"PodGroup.{VOLCANO}",
            id="a task of Volcano, whose annotation goes before its label",
        ),
        pytest.param(
            {"labels": {"scheduling.x-k8s.io/pod-group": "train"}},
            [f"{SCHEDULER_PLUGINS}:default/train"],
            f"PodGroup.{SCHEDULER_PLUGINS}",
            id="scheduler-plugins",
        ),
        pytest.param(
            {"labels": {"pod-group.scheduling.sigs.k8s.io": "train"}}, ["default/train"], "", id="Koordinator by label"
        ),
        pytest.param(
            {"annotations": {"gang.scheduling.koordinator.sh/name": "train"}},
            ["default/train"],
            "",
            id="Koordinator by annotation",
        ),
        pytest.param(
            {"annotations": IN_VOLCANO, "labels": {"pod-group.scheduling.sigs.k8s.io": "train"}},
            ["default/train", f"{VOLCANO}:default/train"],
            f"PodGroup.{VOLCANO}",
            id="two gangs of one name",
        ),
    ],
)
def test_member_is_known_by(facts: Mapping[str, Any], keys: list[str], kind: str) -> None:
    pod = make_pod("m0", **facts)

    assert (gangs_of(pod), gang_name_of(pod), pod_group_kind_of(pod)) == (tuple(keys), "default/train", kind)


def test_pod_that_names_no_gang_is_in_none() -> None:
    pod = make_pod("web", labels={"app": "web"})

    assert (gangs_of(pod), gang_name_of(pod), pod_group_kind_of(pod)) == ((), "", "")


@pytest.mark.parametrize(
    ("least", "tasks"),
    [
        pytest.param(3, ["ps", "worker"], id="of the whole gang"),
        pytest.param(2, [], id="that are more than the whole gang needs count for nothing"),
    ],
)
def test_minimums_of_tasks(least: int, tasks: list[str]) -> None:
    group = PodGroup("default", "train", least, api_group=VOLCANO, min_task_member={"worker": 2, "ps": 1})
    key = f"{VOLCANO}:default/train"

    gangs = AllGangs([], [], [group])

    assert gangs.minimum(key) == GangMinimum(key, "default/train", least, (key,))
    assert [(each.task, each.least) for each in gangs.tasks(key)] == [
        (task, {"ps": 1, "worker": 2}[task]) for task in tasks
    ]


def test_gangs_of_one_name_are_told_apart_by_their_api_group() -> None:
    groups = [PodGroup("default", "train", 2, api_group=VOLCANO)]
    gangs = AllGangs([make_pod("m0", annotations=IN_VOLCANO)], [PodGroup("default", "train", 5)], groups)

    needed = [gangs.minimum(key) for key in ("default/train", f"{VOLCANO}:default/train")]

    assert [each and each.least for each in needed] == [5, 2]
    assert gangs.keys == {f"{VOLCANO}:default/train"}


def test_tasks_of_a_gang_are_told_from_those_of_others() -> None:
    groups = [PodGroup("default", name, 1, api_group=VOLCANO, min_task_member={"w": 1}) for name in ("train", "serve")]
    gangs = AllGangs([], [], groups)
    key = f"{VOLCANO}:default/train"

    assert [each.key for each in gangs.tasks(key)] == [f"{key}#w"]
    assert gangs.keys == {key, f"{VOLCANO}:default/serve"}


def test_gang_of_kubernetes_states_its_number_in_another_field() -> None:
    group = PodGroup("default", "train", 2, api_group="scheduling.k8s.io", leaves_whole=True)

    minimum = AllGangs([], [], [group]).minimum("scheduling.k8s.io:default/train")

    assert minimum is not None
    assert (minimum.setting, minimum.leaves_whole) == ("minCount", True)


def test_group_of_volcano_is_found_for_its_pods() -> None:
    group = VolcanoPodGroup("default", "train", 2, api_group=VOLCANO)
    gangs = AllGangs([], [], [group])

    assert gangs.volcano_group(make_pod("m0", annotations=IN_VOLCANO)) is group
    assert gangs.volcano_group(make_pod("m0", namespace="other", annotations=IN_VOLCANO)) is None
    assert gangs.volcano_group(make_pod("web")) is None


@pytest.mark.parametrize(
    ("key", "name", "group"),
    [
        pytest.param("default/train", "default/train", "scheduling.sigs.k8s.io", id="Koordinator"),
        pytest.param(f"{VOLCANO}:default/train", "default/train", VOLCANO, id="Volcano"),
    ],
)
def test_key_of_a_gang_tells_its_name_and_api_group(key: str, name: str, group: str) -> None:
    assert (name_of_gang(key), api_group_of(key)) == (name, group)
