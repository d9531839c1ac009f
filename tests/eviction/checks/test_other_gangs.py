"""Gangs of Volcano, of scheduler-plugins and of Kubernetes keep the pods that they need, whoever schedules these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from descheduler import evaluate
from descheduler.cluster.dumps.write import redact
from descheduler.cluster.kinds import KINDS
from descheduler.evaluation import Evaluation
from tests.builders import NOW, Object, node_object, pod_object

GROUP_NAME = "scheduling.k8s.io/group-name"
NODES = [node_object("drained", taints=["old:NoSchedule"]), node_object("room", cpu="8")]


def policy_of(**verification: str) -> Object:
    """A DeschedulerPolicy that clears tainted nodes and verifies landings; unknown ones are allowed."""
    args = {"onUnknown": "allow", **verification}
    plugins = {
        "deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]},
        "preevictionfilter": {"enabled": ["PlacementVerification"]},
    }
    profile = {
        "name": "p",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": {}},
            {"name": "RemovePodsViolatingNodeTaints"},
            {"name": "PlacementVerification", "args": args},
        ],
        "plugins": plugins,
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def pod_group(api_version: str, minimum: int, **spec: Any) -> Object:
    metadata = {"name": "train", "namespace": "default"}
    return {"apiVersion": api_version, "kind": "PodGroup", "metadata": metadata, "spec": {"minMember": minimum, **spec}}


def in_volcano(name: str, task: str = "", **facts: Any) -> Object:
    annotations = {GROUP_NAME: "train", **({"volcano.sh/task-spec": task} if task else {})}
    known = {"node": "drained", "scheduler": "volcano", "owners": ["Job/train"]}
    return pod_object(name, annotations=annotations, **{**known, **facts})


def in_scheduler_plugins(name: str, **facts: Any) -> Object:
    labels = {"scheduling.x-k8s.io/pod-group": "train"}
    return pod_object(name, labels=labels, **{"node": "drained", "owners": ["ReplicaSet/train"], **facts})


VOLCANO = "scheduling.volcano.sh/v1beta1", in_volcano
SCHEDULER_PLUGINS = "scheduling.x-k8s.io/v1alpha1", in_scheduler_plugins
BOTH = pytest.mark.parametrize(("api_version", "member"), [VOLCANO, SCHEDULER_PLUGINS], ids=["volcano", "x-k8s"])


def run(objects: Sequence[Object], **verification: str) -> Evaluation:
    return evaluate(policy_of(**verification), [*NODES, *objects], now=NOW)


def refusals(result: Evaluation) -> list[tuple[str, str]]:
    return [(each.name, each.code) for each in result.refusals]


@BOTH
def test_gang_at_its_minimum_is_kept_whole(api_version: str, member: Callable[..., Object]) -> None:
    pods = [member("m0"), member("m1", node="room"), member("m2", node="room")]

    result = run([pod_group(api_version, 3), *pods])

    assert (list(result.evictions), refusals(result)) == ([], [("m0", "GangMinimum")])
    assert result.refusals[0].message == (
        "gang default/train has 3 pods running; it needs 3 (minMember), and 1 pod would be evicted"
        " (onGangMinimum: refuse)"
    )


@BOTH
def test_pods_above_the_minimum_go(api_version: str, member: Callable[..., Object]) -> None:
    result = run([pod_group(api_version, 2), *map(member, ("m0", "m1", "m2"))])

    assert [each.name for each in result.evictions] == ["m0"]
    assert refusals(result) == [("m1", "GangMinimum"), ("m2", "GangMinimum")]


@BOTH
def test_gang_is_not_taken_for_one_of_another_scheduler(api_version: str, member: Callable[..., Object]) -> None:
    """The PodGroup of this name that asks for all pods is Koordinator's, and none of them names it."""
    groups = [pod_group(api_version, 0), pod_group("scheduling.sigs.k8s.io/v1alpha1", 3)]

    result = run([*groups, *map(member, ("m0", "m1", "m2"))])

    assert [each.name for each in result.evictions] == ["m0", "m1", "m2"]


def test_gang_moves_whole_where_that_is_allowed() -> None:
    pods = [in_volcano("m0"), in_volcano("m1", node="room"), in_volcano("m2", node="room")]

    result = run([pod_group(VOLCANO[0], 3), *pods], onGangMinimum="evictGang")

    assert [each.name for each in result.evictions] == ["m0", "m1", "m2"]


def test_task_of_a_gang_keeps_the_pods_that_it_needs() -> None:
    group = pod_group(VOLCANO[0], 2, minTaskMember={"ps": 1, "worker": 1})
    pods = [in_volcano("ps-0", "ps"), *(in_volcano(f"worker-{index}", "worker") for index in range(3))]

    result = run([group, *pods])

    assert [each.name for each in result.evictions] == ["worker-0", "worker-1"]
    assert [(each.name, each.message.partition(",")[0]) for each in result.refusals] == [
        ("ps-0", "task ps of gang default/train has 1 pod running; it needs 1 (minTaskMember)"),
        ("worker-2", "gang default/train has 4 pods running"),
    ]


UNREAD = "no such objects were read"


@pytest.mark.parametrize(
    ("pods", "group", "unread"),
    [
        pytest.param([in_volcano("m0"), in_volcano("m1")], "scheduling.volcano.sh", UNREAD, id="volcano"),
        pytest.param(
            [in_scheduler_plugins("m0"), in_scheduler_plugins("m1")], "scheduling.x-k8s.io", UNREAD, id="x-k8s"
        ),
        pytest.param(
            [
                pod_object(name, node="drained", spec={"schedulingGroup": {"podGroupName": "train"}})
                for name in ("m0", "m1")
            ],
            "scheduling.k8s.io",
            UNREAD,
            id="Kubernetes",
        ),
    ],
)
def test_evicted_pods_whose_pod_group_was_not_read_are_counted(pods: Sequence[Object], group: str, unread: str) -> None:
    result = run(pods)

    assert [each.name for each in result.evictions] == ["m0", "m1"]
    assert (
        f"2 evicted pods name a PodGroup ({group}), and {unread}: how many pods the gang needs is unknown"
    ) in result.plan.warnings


def test_member_under_a_scheduler_that_may_run_coscheduling_is_likely_at_best() -> None:
    result = run([pod_group(SCHEDULER_PLUGINS[0], 1), *map(in_scheduler_plugins, ("m0", "m1"))], onUnknown="refuse")

    assert refusals(result) == [("m0", "UnknownLanding"), ("m1", "UnknownLanding")]
    assert (
        result.refusals[0].message
        == "pod groups of scheduler-plugins are not modelled (Coscheduling) (onUnknown: refuse)"
    )


def in_kubernetes(name: str, node: str = "drained") -> Object:
    return pod_object(name, node=node, spec={"schedulingGroup": {"podGroupName": "train"}})


def kubernetes_group(minimum: int | None, mode: object = None, version: str = "v1beta1") -> Object:
    """A PodGroup of Kubernetes, of the policy `basic` without a minimum."""
    policy: Object = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    spec = {"schedulingPolicy": policy} | ({} if mode is None else {"disruptionMode": mode})
    metadata = {"name": "train", "namespace": "default"}
    return {"apiVersion": f"scheduling.k8s.io/{version}", "kind": "PodGroup", "metadata": metadata, "spec": spec}


WHOLE: Object = {"all": {}}


@pytest.mark.parametrize(
    ("group", "evicted"),
    [
        pytest.param(kubernetes_group(None), ["m0", "m1", "m2"], id="a basic group needs no pod"),
        pytest.param(kubernetes_group(2), ["m0"], id="those above minCount"),
        pytest.param(kubernetes_group(2, {"single": {}}), ["m0"], id="those above minCount, as the mode says"),
        pytest.param(kubernetes_group(2, WHOLE), [], id="none alone of a group that leaves whole"),
        pytest.param(kubernetes_group(None, WHOLE), [], id="nor of a basic group that leaves whole"),
        pytest.param(kubernetes_group(None, "PodGroup", "v1alpha2"), [], id="nor as Kubernetes 1.36 spells it"),
    ],
)
def test_group_of_kubernetes_lets_go(group: Object, evicted: list[str]) -> None:
    result = run([group, *map(in_kubernetes, ("m0", "m1", "m2"))])

    assert [each.name for each in result.evictions] == evicted
    assert {each.code for each in result.refusals} <= {"GangMinimum"}


def test_member_of_a_group_with_topology_constraints_is_likely_at_best() -> None:
    group = kubernetes_group(None)
    group["spec"]["schedulingConstraints"] = {"topology": [{"key": "topology.kubernetes.io/rack"}]}

    result = run([group, in_kubernetes("m0")], onUnknown="refuse")

    assert refusals(result) == [("m0", "UnknownLanding")]
    assert result.refusals[0].message == "scheduling groups are not modelled (GangScheduling) (onUnknown: refuse)"


def test_refusal_says_that_a_group_of_kubernetes_leaves_whole() -> None:
    result = run([kubernetes_group(1, WHOLE), in_kubernetes("m0"), in_kubernetes("m1")])

    assert result.refusals[0].message == (
        "gang default/train has 2 pods running; its pods are evicted all together or not at all (disruptionMode: all),"
        " and 1 pod would be evicted (onGangMinimum: refuse)"
    )


@pytest.mark.parametrize("minimum", [None, 1, 3])
def test_group_that_leaves_whole_takes_its_other_pods_along_where_that_is_allowed(minimum: int | None) -> None:
    pods = [in_kubernetes("m0"), in_kubernetes("m1", "room"), in_kubernetes("m2", "room")]

    result = run([kubernetes_group(minimum, WHOLE), *pods], onGangMinimum="evictGang")

    assert [each.name for each in result.evictions] == ["m0", "m1", "m2"]


def test_dump_says_that_a_group_of_kubernetes_leaves_whole() -> None:
    kind = KINDS["PodGroup.scheduling.k8s.io"]

    kept = redact(kind, kubernetes_group(2, WHOLE))

    assert kept["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}}


def test_workload_of_kubernetes_1_35_is_not_read_and_its_pods_are_counted() -> None:
    reference = {"workloadRef": {"name": "train", "podGroup": "workers"}}

    result = run([pod_object("m0", node="drained", spec=reference)])

    assert any("Workloads of scheduling.k8s.io are not read" in note for note in result.plan.warnings)
