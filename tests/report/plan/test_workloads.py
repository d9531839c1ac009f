"""Which workloads lose pods in a plan, how many at once, and what their budgets allow."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner, Pod
from descheduler.plan.moves import Move
from descheduler.report.identities import reference
from descheduler.report.plan.workloads import PlannedWorkload, WaveShare, WorkloadBudget, planned_workloads
from tests.builders import make_budget, make_pod, make_snapshot, owner


def workload(kind: str, name: str, replicas: int, *owners: Owner) -> Workload:
    return Workload(kind, "default", name, f"{kind}-{name}".lower(), replicas, owners=owners)


def deployment(name: str, *, controller: bool = True) -> Owner:
    (found,) = make_pod("any", owners=[owner(f"Deployment/{name}", controller=controller)]).owners
    return found


def workloads_of(snapshot: Snapshot, *leaving: Pod, waves: tuple[int, ...] = ()) -> tuple[PlannedWorkload, ...]:
    """The workloads of the pods that leave, one a wave or as `waves` say."""
    waves = waves or (1,) * len(leaving)
    moves = [Move(pod, "main", "PodLifeTime", wave=wave) for pod, wave in zip(leaving, waves, strict=True)]
    return planned_workloads(snapshot, moves)


def named(found: tuple[PlannedWorkload, ...]) -> list[tuple[str, str, int, int]]:
    return [(each.kind, each.name, each.moved, each.replicas) for each in found]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param([], ("ReplicaSet", "web"), id="of which nothing is known"),
        pytest.param([workload("ReplicaSet", "web", 3)], ("ReplicaSet", "web"), id="that nothing controls"),
        pytest.param([workload("ReplicaSet", "web", 3, deployment("shop"))], ("Deployment", "shop"), id="controlled"),
        pytest.param(
            [workload("ReplicaSet", "web", 3, deployment("shop", controller=False))],
            ("ReplicaSet", "web"),
            id="that an owner does not control",
        ),
    ],
)
def test_pods_are_counted_for_what_controls_their_controller(known: list[Workload], expected: tuple[str, str]) -> None:
    pod = make_pod("web-1")
    snapshot = make_snapshot([], [pod], workloads={each.uid: each for each in known})

    (found,) = workloads_of(snapshot, pod)

    assert (found.kind, found.name) == expected


def test_pod_without_controller_is_a_workload_of_its_own() -> None:
    pod = make_pod("bare", namespace="shop", owners=())

    assert workloads_of(make_snapshot([], [pod]), pod) == (
        PlannedWorkload(
            kind="Pod",
            namespace="shop",
            name="bare",
            replicas=1,
            moved=1,
            pods=(reference(pod),),
            waves=(WaveShare(wave=1, pods=1),),
            budgets=(),
        ),
    )


def test_workloads_that_lose_most_pods_come_first_and_others_by_name() -> None:
    names = ("b-1", "a-1", "c-1", "c-2")
    pods = [make_pod(name, owners=[f"ReplicaSet/{name[0]}"]) for name in names]

    found = workloads_of(make_snapshot([], pods), *pods)

    assert [(each.name, each.moved) for each in found] == [("c", 2), ("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("replicas", "others", "expected"),
    [
        pytest.param(5, {}, 5, id="of its spec"),
        pytest.param(0, {}, 3, id="those that there are where the spec has none"),
        pytest.param(None, {}, 3, id="those that there are where the spec is not known"),
        pytest.param(None, {"phase": "Succeeded"}, 2, id="those that have not finished"),
    ],
)
def test_replicas_are_those_that_are_wanted_or_those_that_there_are(
    replicas: int | None, others: dict[str, Any], expected: int
) -> None:
    pods = [make_pod("web-1"), make_pod("web-2"), make_pod("web-3", **others)]
    known = {} if replicas is None else {"replicaset-web": workload("ReplicaSet", "web", replicas)}
    snapshot = make_snapshot([], pods, workloads=known)

    assert named(workloads_of(snapshot, pods[0], pods[1])) == [("ReplicaSet", "web", 2, expected)]


def test_finished_pods_that_leave_are_replicas_but_no_share_of_a_wave() -> None:
    pods = [make_pod("web-1", phase="Failed"), make_pod("web-2"), make_pod("web-3", phase="Failed")]

    (found,) = workloads_of(make_snapshot([], pods), *pods, waves=(1, 2, 2))

    assert (found.replicas, found.moved, found.waves) == (3, 3, (WaveShare(wave=2, pods=1),))


def test_waves_are_counted_in_order() -> None:
    pods = [make_pod(f"web-{number}") for number in range(4)]

    (found,) = workloads_of(make_snapshot([], pods), *pods, waves=(3, 1, 3, 2))

    assert found.waves == (WaveShare(wave=1, pods=1), WaveShare(wave=2, pods=1), WaveShare(wave=3, pods=2))


def test_budgets_are_those_that_cover_pods_that_leave_and_allow_nothing_without_a_status() -> None:
    pods = [make_pod("web-1", labels={"app": "web"}), make_pod("web-2", labels={"app": "web", "tier": "front"})]
    budgets = (
        make_budget("front", {"tier": "front"}),
        make_budget("all", {"app": "web"}, disruptions_allowed=2, has_status=True),
        make_budget("db", {"app": "db"}, disruptions_allowed=1, has_status=True),
    )

    (found,) = workloads_of(make_snapshot([], pods, budgets=budgets), *pods)

    assert found.budgets == (WorkloadBudget(name="all", allowed=2), WorkloadBudget(name="front", allowed=0))
