"""What has changed since a plan was made, as `apply` tells it: about pods, their nodes, the cluster and the policy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.applying import PlanRefusedError, check_identity
from descheduler.cycle.applying.changes import changes_of, refused, shortened
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.options import PlanToApply
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Failure
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.document import PodReference
from descheduler.report.plan.document import PlanRoom
from descheduler.report.plan.file import ClusterIdentity, PlanFile, make_plan_file
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot

TAINTS = "RemovePodsViolatingNodeTaints"
CLUSTER = ClusterIdentity(server="https://a", uid="u")
WEB = make_pod("web", cpu="1")
OLD: Object = {"taints": ["gone=soon:NoSchedule"]}


def policy(**top: object) -> Policy:
    """A policy that moves pods away from taints, and verifies where they go."""
    profile = {
        "name": "p",
        "pluginConfig": [{"name": TAINTS}, {"name": "PlacementVerification"}],
        "plugins": {"deschedule": {"enabled": [TAINTS]}, "preevictionfilter": {"enabled": ["PlacementVerification"]}},
    }
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}
    return load_policy(document, REGISTRY)


def plan() -> PlanFile:
    """Pod web leaves the tainted node a for b."""
    snapshot = make_snapshot([make_node("a", **OLD), make_node("b")], [WEB])
    file = make_plan_file(decide(policy(), snapshot, now=NOW), CLUSTER)
    assert [(move.from_node, move.to_node) for move in file.plan.moves] == [("a", "b")]
    return file


def applied(file: PlanFile, **options: Any) -> PlanToApply:
    """The file as it is applied."""
    return PlanToApply(file, timedelta(minutes=5), **options)


def changes(
    pod: Pod | None = WEB, a: Node | None = None, b: Node | None = None, *further: Pod, **more: Any
) -> list[str]:
    """What has changed where the pod and the nodes are these by now."""
    nodes = [make_node("a", **OLD) if a is None else a, make_node("b") if b is None else b, make_node("c")]
    snapshot = make_snapshot([node for node in nodes if node.name], [*([pod] if pod else []), *further])
    file, kept_cordoned = more.pop("file", None) or plan(), more.pop("kept_cordoned", ())
    return [text for _, text in changes_of(applied(file, **more), snapshot, kept_cordoned)]


GONE = make_node("")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"pod": None}, ["is gone"], id="the pod is gone"),
        pytest.param({"pod": make_pod("web", cpu="1", uid="x")}, ["is gone"], id="another pod of that name"),
        pytest.param({"pod": make_pod("web", cpu="1", deleted=1)}, ["is being deleted"], id="a deletion"),
        pytest.param({"pod": make_pod("web", cpu="1", node="c")}, ["is on node c, was on a"], id="another node"),
        pytest.param({"pod": make_pod("web", cpu="1", node="")}, ["is on node none, was on a"], id="no node"),
        pytest.param(
            {"pod": make_pod("web", cpu="2", node="c", deleted=1)},
            ["is being deleted, is on node c, was on a"],
            id="a deletion elsewhere",
        ),
        pytest.param(
            {"pod": make_pod("web", cpu="1", owners=["ReplicaSet/db"])}, ["has another controller"], id="a controller"
        ),
        pytest.param({"pod": make_pod("web", cpu="1", owners=())}, ["has another controller"], id="no controller"),
        pytest.param({"pod": make_pod("web", cpu="1100m")}, ["has other requests"], id="requests"),
        pytest.param({"pod": make_pod("web", cpu="1", labels={"a": "b"})}, ["has other labels"], id="labels"),
        pytest.param(
            {"pod": make_pod("web", cpu="2", labels={"a": "b"}, owners=())},
            ["has another controller, has other requests, has other labels"],
            id="all of these",
        ),
        pytest.param(
            {"pod": make_pod("web", cpu="1", labels={"a": "b"}), "reselects": False}, [], id="labels that do not count"
        ),
        pytest.param({"b": GONE}, ["node b is gone"], id="the target is gone"),
        pytest.param({"a": GONE}, ["node a is gone"], id="the source is gone"),
        pytest.param({"b": replace(make_node("b"), uid="x")}, ["node b is gone"], id="another node of that name"),
        pytest.param({"b": make_node("b", unschedulable=True)}, ["node b is now cordoned"], id="a cordon"),
        pytest.param(
            {"b": make_node("b", unschedulable=True), "kept_cordoned": {"b"}}, [], id="a cordon of the run itself"
        ),
        pytest.param({"b": make_node("b", ready=False)}, ["node b is not ready any more"], id="not ready"),
        pytest.param({"b": make_node("b", cpu="5")}, ["node b has other allocatable resources"], id="resources"),
        pytest.param({"b": make_node("b", labels={"a": "b"})}, ["node b has other labels"], id="labels of a node"),
        pytest.param({"b": make_node("b", taints=["a:NoExecute"])}, ["node b has other taints"], id="taints of a node"),
        pytest.param({"a": make_node("a")}, ["node a has other taints"], id="no taints"),
        pytest.param(
            {"b": make_node("b", ready=False, unschedulable=True, cpu="5", labels={"a": "b"}, taints=["a:NoExecute"])},
            [
                "node b is now cordoned, node b is not ready any more, node b has other allocatable resources, "
                "node b has other labels, node b has other taints"
            ],
            id="all of a node",
        ),
        pytest.param(
            {"a": make_node("a"), "b": make_node("b", cpu="5")},
            ["node a has other taints, node b has other allocatable resources"],
            id="both nodes",
        ),
    ],
)
def test_changes_of_a_pod_and_its_nodes_are_told(now: dict[str, Any], told: list[str]) -> None:
    assert changes(**now) == [f"pod default/web: {text}" for text in told]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        pytest.param({"ready": False}, "node b is now ready", id="not ready"),
        pytest.param({"cordoned": True}, "node b is not cordoned any more", id="cordoned"),
    ],
)
def test_changes_for_the_better_are_changes_too(facts: dict[str, Any], told: str) -> None:
    file = plan()
    (basis,) = file.bases
    assert basis.target is not None
    was = replace(basis.target, **facts)

    assert changes(file=replace(file, bases=(replace(basis, target=was),))) == [f"pod default/web: {told}"]


SERVED = PodReference(namespace="default", name="job", uid="default-job")


def serving(*references: PodReference) -> PlanFile:
    """The plan, whose move makes room for these pending pods."""
    file = plan()
    return replace(file, bases=tuple(replace(basis, serves=references) for basis in file.bases))


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        pytest.param([make_pod("job", node="")], [], id="it waits"),
        pytest.param([], ["pod default/job, for which it makes room, is gone"], id="it is gone"),
        pytest.param(
            [make_pod("job", node="", deleted=1)], ["pod default/job, for which it makes room, is gone"], id="it goes"
        ),
        pytest.param(
            [make_pod("job", node="", phase="Failed")],
            ["pod default/job, for which it makes room, is gone"],
            id="it has failed",
        ),
        pytest.param(
            [make_pod("job", node="c")],
            ["pod default/job, for which it makes room, is scheduled already"],
            id="it has a node",
        ),
        pytest.param(
            [make_pod("spy", node="", uid="default-job")],
            [
                "pod default/job, for which it makes room, has the UID of pod default/spy; the file was changed",
            ],
            id="another pod has its UID",
        ),
        pytest.param(
            [make_pod("job", namespace="other", node="", uid="default-job")],
            [
                "pod default/job, for which it makes room, has the UID of pod other/job; the file was changed",
            ],
            id="a pod of another namespace has its UID",
        ),
    ],
)
def test_pending_pod_that_a_move_makes_room_for_has_to_wait_still(pods: list[Pod], told: list[str]) -> None:
    assert changes(WEB, None, None, *pods, file=serving(SERVED)) == [f"pod default/web: {text}" for text in told]


@pytest.mark.parametrize(
    ("serves", "rooms", "rooms_of_later", "waiting", "is_in_vain"),
    [
        pytest.param(
            ["job", "other"], ["job"], ["other"], ["other"], True, id="the one that another move has room for"
        ),
        pytest.param(["job", "other"], ["job"], [], ["other"], False, id="one that no move has room for"),
        pytest.param(["job"], ["later"], [], [], True, id="beside one that leaves later"),
        pytest.param(["job"], [], ["job"], [], True, id="another move has the room, and this one none"),
        pytest.param(["job"], [], ["job"], ["job"], False, id="which waits"),
    ],
)
def test_move_serves_the_pods_that_it_has_room_for_and_those_that_no_move_has(
    serves: list[str], rooms: list[str], rooms_of_later: list[str], waiting: list[str], is_in_vain: bool
) -> None:
    """Two moves, each with the pods that room is held for; job is gone unless it waits."""

    def room_for(names: list[str]) -> tuple[PlanRoom, ...]:
        return tuple(PlanRoom(pod=replace(SERVED, name=name, uid=f"default-{name}"), node="a") for name in names)

    file, later = serving(*(room.pod for room in room_for(serves))), room_for(["later"])[0].pod
    (move,), (basis,) = file.plan.moves, file.bases
    moves = replace(move, room_for=room_for(rooms)), replace(move, pod=later, room_for=room_for(rooms_of_later))
    file = replace(file, plan=replace(file.plan, moves=moves), bases=(basis, replace(basis, uid=later.uid, serves=())))
    pods = [WEB, make_pod("later", cpu="1"), *(make_pod(name, node="") for name in waiting)]
    snapshot = make_snapshot([make_node("a", **OLD), make_node("b")], pods)

    told = dict(changes_of(applied(file), snapshot)).get(WEB.uid, "")

    assert told == ("pod default/web: pod default/job, for which it makes room, is gone" if is_in_vain else "")


def test_node_that_the_plan_knew_nothing_of_has_not_changed() -> None:
    file = plan()
    (basis,) = file.bases

    assert changes(file=replace(file, bases=(replace(basis, source=None),))) == []


def test_several_pending_pods_are_named_together() -> None:
    others = [replace(SERVED, name=f"job-{number}", uid=f"job-{number}") for number in range(2)]

    assert changes(file=serving(*others)) == [
        "pod default/web: pods default/job-0, default/job-1, for which it makes room, are gone"
    ]


def test_move_whose_pod_bears_the_uid_of_another_is_of_a_changed_file() -> None:
    other = make_pod("other", cpu="1", uid=WEB.uid)

    assert changes(other) == ["pod default/web: has the UID of pod default/other; the file was changed"]


def refusal(file: PlanFile, now_policy: Policy | None = None, cluster: ClusterIdentity = CLUSTER, age: Any = 0) -> str:
    """What is said of a plan that is applied so many seconds after its snapshot was taken; "" where it holds."""
    taken_at = file.plan.snapshot.taken_at or file.plan.now
    try:
        check_identity(applied(file), now_policy or policy(), cluster, taken_at + timedelta(seconds=age))
    except PlanRefusedError as error:
        return str(error).split("\n")[1].strip()
    return ""


@pytest.mark.parametrize(
    ("cluster", "is_refused"),
    [
        (CLUSTER, False),
        (ClusterIdentity(server="https://b", uid="u"), False),
        (ClusterIdentity(server="https://a", uid=""), False),
        (ClusterIdentity(server="https://a", uid="v"), True),
    ],
)
def test_plan_is_of_the_cluster_whose_uid_it_has(cluster: ClusterIdentity, is_refused: bool) -> None:
    said = "another cluster: planned on https://a (u), this is https://a (v)" if is_refused else ""

    assert refusal(plan(), cluster=cluster) == said
    assert refusal(replace(plan(), cluster=ClusterIdentity(server="", uid="")), cluster=cluster) == ""


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (300, ""),
        (301, "its snapshot is 301 s old (--max-age: 300 s)"),
        (-300, ""),
        (-301, f"its snapshot is of {NOW.isoformat()}, which is in the future; check the clocks"),
    ],
)
def test_plan_is_neither_too_old_nor_of_the_future(age: float, said: str) -> None:
    assert refusal(plan(), age=age) == said


def test_plan_is_of_the_policy() -> None:
    other = policy(maxNoOfPodsToEvictTotal=5)

    assert refusal(plan(), other) == (
        f"another policy: planned with digest {policy().digest}, {other.path} has {other.digest}"
    )


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        pytest.param({"skipped": "too few nodes"}, "the plan was skipped: too few nodes", id="a skipped one"),
        pytest.param(
            {"failures": (Failure("p", "Spot", "plugin Spot failed: KeyError"),)},
            "plugin Spot failed: KeyError",
            id="one in which a plugin has failed",
        ),
    ],
)
def test_plan_is_whole(facts: dict[str, Any], said: str) -> None:
    file = plan()

    assert refusal(replace(file, plan=replace(file.plan, **facts))) == said


@pytest.mark.parametrize(("number", "shown"), [(20, 20), (21, 21), (22, 21)])
def test_so_many_changes_are_told_and_the_others_counted(number: int, shown: int) -> None:
    lines = shortened([f"change {index}" for index in range(number)])

    assert len(lines) == shown
    assert lines[20:] == ([] if number == 20 else [f"and {number - 20} more"])


def test_refusal_says_how_to_go_on() -> None:
    assert str(refused(["one"])) == (
        "the plan is not applied, nothing was evicted; 1 change since it was made:\n  one\n"
        "make a new plan with 'descheduler plan --out'"
    )
    assert str(refused(["one", "two"], can_leave_out=True)).endswith(
        "make a new plan with 'descheduler plan --out', or leave these moves out with --allow-partial"
    )
