"""Which pending pods makeRoom is for, and why it is for no others."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.planner.objective_args import MakeRoomArgs
from descheduler.planner.objectives.making_room.selected_pods import SelectedPods
from descheduler.policy.shared_args import Namespaces
from tests.builders import make_pod


def pending(name: str = "web", **facts: Any) -> Pod:
    return make_pod(name, **{"node": "", "phase": "Pending", **facts})


LABELLED: Any = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("args", "pod", "why"),
    [
        pytest.param(MakeRoomArgs(), pending(), "", id="it is pending"),
        pytest.param(MakeRoomArgs(), pending(node="a", phase="Running"), "is already scheduled onto a", id="it runs"),
        pytest.param(MakeRoomArgs(), pending(phase="Succeeded"), "has finished", id="it has finished"),
        pytest.param(MakeRoomArgs(), pending(deleted=-60), "is terminating", id="it is being deleted"),
        pytest.param(
            MakeRoomArgs(), pending(spec={"schedulingGates": [{"name": "g"}]}), "has scheduling gates", id="it is gated"
        ),
        pytest.param(MakeRoomArgs(("default/web",)), pending(), "", id="it is listed"),
        pytest.param(MakeRoomArgs(("default/db",)), pending(), "is not listed in makeRoom.for", id="it is not listed"),
        pytest.param(MakeRoomArgs(namespaces=Namespaces(include=("default",))), pending(), "", id="included"),
        pytest.param(
            MakeRoomArgs(namespaces=Namespaces(include=("shop",))),
            pending(),
            "is in namespace default, which is not included (makeRoom.namespaces.include)",
            id="not included",
        ),
        pytest.param(
            MakeRoomArgs(namespaces=Namespaces(exclude=("default",))),
            pending(),
            "is in namespace default, which is excluded (makeRoom.namespaces.exclude)",
            id="excluded",
        ),
        pytest.param(MakeRoomArgs(namespaces=Namespaces(exclude=("shop",))), pending(), "", id="not excluded"),
        pytest.param(MakeRoomArgs(label_selector=LABELLED), pending(labels={"app": "web"}), "", id="its labels match"),
        pytest.param(
            MakeRoomArgs(label_selector=LABELLED), pending(), "does not match makeRoom.labelSelector", id="no match"
        ),
    ],
)
def test_a_pod_is_selected_or_it_is_said_why_not(args: MakeRoomArgs, pod: Pod, why: str) -> None:
    selected = SelectedPods(args, [pod])

    assert selected.why_not(pod) == why
    assert [each.name for each in selected.pods.values()] == ([] if why else ["web"])


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["a"], ""),
        (["a", "x"], "makeRoom.for: default/x does not exist"),
        (["r", "x"], "makeRoom.for: default/r is already scheduled onto n, default/x does not exist"),
        (
            ["x", "y", "z"],
            "makeRoom.for: default/x does not exist, default/y does not exist, default/z does not exist",
        ),
        (
            ["x", "y", "z", "r"],
            "makeRoom.for: default/x does not exist, default/y does not exist, default/z does not exist, 1 other is not"
            " selected",
        ),
        (
            ["x", "y", "z", "r", "v"],
            "makeRoom.for: default/x does not exist, default/y does not exist, default/z does not exist, 2 others are"
            " not selected",
        ),
    ],
)
def test_names_that_select_no_pod_are_said(names: list[str], fault: str) -> None:
    pods = [pending("a"), make_pod("r", node="n")]

    assert SelectedPods(MakeRoomArgs(tuple(f"default/{name}" for name in names)), pods).fault == fault


def test_no_name_is_at_fault_where_none_is_given() -> None:
    assert SelectedPods(MakeRoomArgs(), [make_pod("r", node="n")]).fault == ""
