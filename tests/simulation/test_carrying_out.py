from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.recent_moves import RECENT_MOVES_KEY, RecentMoves
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.simulation.carrying_out import CarriedOut, carried_out
from tests.builders import NOW, Object, container_status, make_budget, node_object, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object
from tests.planner.choosing import choosing_policy
from tests.simulation.loops import FIVE_MINUTES, balancing, carry_out, decided, evicting, policy_of, resting

RESTARTED = [container_status(restarts=9)]


def restarted(name: str, **facts: object) -> Object:
    """A pod that `evicting` evicts."""
    return pod_object(name, containers=RESTARTED, **facts)  # type: ignore[arg-type]  # facts of pods


def pods_of(snapshot: Snapshot) -> dict[str, str]:
    """Name → node of all pods."""
    return {pod.name: pod.node_name for pod in snapshot.pods}


def fates(carried: CarriedOut) -> list[str]:
    """What became of the replacements."""
    return [arrival.fate for arrival in carried.arrivals]


def test_evicted_pod_is_gone_and_its_replacement_runs_where_the_plan_predicts_it() -> None:
    decisions = decided(evicting(), restarted("old", node="a"), pod_object("other", node="a"))

    after = carried_out(decisions, FIVE_MINUTES)

    assert pods_of(after.snapshot) == {"old+": decisions.leaving[0].to_node, "other": "a"}
    assert pod_named(after.snapshot, "other") is pod_named(decisions.snapshot, "other")


def test_replacement_is_new_and_ready() -> None:
    after = carry_out(evicting(), restarted("old", node="a"))

    new = pod_named(after.snapshot, "old+")
    assert (new.phase, new.is_ready, new.created_at, new.container_statuses) == ("Running", True, NOW, ())
    assert new.uid == "default-old+"


def test_next_run_comes_later() -> None:
    after = carry_out(evicting(), restarted("old", node="a"))

    assert after.now == NOW + FIVE_MINUTES


def test_replacement_is_made_from_the_template_of_its_controller() -> None:
    template = pod_object("template", cpu="3")

    after = carry_out(evicting(), workload_object("ReplicaSet/web", template=template), restarted("old", cpu="1"))

    assert pod_named(after.snapshot, "old+").spec.requests["cpu"] == 3 * 10**9


def test_pod_of_a_stateful_set_keeps_its_name() -> None:
    workload = workload_object("StatefulSet/db", replicas=1)

    after = carry_out(evicting(), workload, restarted("db-0", owners=["StatefulSet/db"]))

    assert list(pods_of(after.snapshot)) == ["db-0"]
    assert pod_named(after.snapshot, "db-0").created_at == NOW


@pytest.mark.parametrize(
    ("objects", "fate"),
    [
        pytest.param([restarted("old", cpu="1")], "scheduled", id="one that fits is scheduled"),
        pytest.param(
            [restarted("old", cpu="1"), workload_object("ReplicaSet/web", template=pod_object("t", cpu="9"))],
            "pending",
            id="one that has grown out of every node is pending",
        ),
        pytest.param([restarted("old", scheduler="mine")], "scheduled", id="another scheduler is taken to be like it"),
        pytest.param(
            [restarted("old"), workload_object("ReplicaSet/web", replicas=0)],
            "not created",
            id="one too many is not created",
        ),
    ],
)
def test_fate_of_a_replacement(objects: list[Object], fate: str) -> None:
    after = carry_out(evicting(), *objects)

    assert fates(after) == [fate]


def test_finished_pod_does_not_come_back() -> None:
    failed = pod_object("old", phase="Failed", ready=False)

    after = carry_out(policy_of("RemoveFailedPods"), failed)

    assert (fates(after), after.snapshot.pods) == (["not created"], ())


def test_pod_of_a_daemon_set_comes_back_to_its_node() -> None:
    after = carry_out(evicting(evictDaemonSetPods=True), restarted("agent", owners=["DaemonSet/agent"], node="b"))

    assert (fates(after), pods_of(after.snapshot)) == (["scheduled"], {"agent+": "b"})


def test_pending_pod_takes_the_room_that_an_evicted_pod_leaves() -> None:
    waiting = pod_object("waiting", node="", phase="Pending", ready=False, cpu="3", owners=["ReplicaSet/x"])
    nodes = [node_object("a"), node_object("b", cpu="2")]

    after = carry_out(evicting(), *nodes, restarted("old", node="a", cpu="2"), waiting)

    assert pods_of(after.snapshot) == {"old+": "b", "waiting": "a"}
    assert pod_named(after.snapshot, "waiting").phase == "Running"


def test_pending_pods_that_fit_before_an_eviction_are_scheduled_before_it() -> None:
    """Otherwise the first one goes where the second has its only node, as the replacement of p is on its own by then.

    Pod p leaves a for d, and room for the third one is held on a.
    """
    nodes = [node_object(name, cpu="10") for name in "abd"]
    fixed = [pod_object(f"fixed-{node}", node=node, cpu=cpu, owners=[]) for node, cpu in zip("abd", "665", strict=True)]
    waiting = [
        pod_object(name, node="", phase="Pending", cpu=cpu, age=age)
        for name, cpu, age in (("first", "2", 300), ("second", "4", 200), ("third", "4", 100))
    ]
    policy = load_policy(choosing_policy({"makeRoom": {}}), REGISTRY, name="making-room.yaml")
    p = pod_object("p", node="a", cpu="2", owners=["ReplicaSet/p"])

    after = carry_out(policy, *nodes, workload_object("ReplicaSet/p", replicas=1), p, *fixed, *waiting)

    assert {name: pod_named(after.snapshot, name).node_name for name in ("first", "second", "third")} == {
        "first": "d",
        "second": "b",
        "third": "a",
    }


def test_pending_pod_that_fits_nowhere_stays_pending() -> None:
    waiting = pod_object("waiting", node="", phase="Pending", ready=False, cpu="9", owners=["ReplicaSet/x"])

    after = carry_out(evicting(), restarted("old"), waiting)

    assert pods_of(after.snapshot)["waiting"] == ""


def test_pending_pod_of_a_scheduler_that_is_not_modelled_is_counted() -> None:
    waiting = pod_object("waiting", node="", phase="Pending", ready=False, scheduler="mine", owners=["ReplicaSet/x"])

    after = carry_out(evicting(), restarted("old"), waiting)

    assert sum(after.undecided.values()) == 1
    assert pods_of(after.snapshot)["waiting"] == ""


def test_migration_jobs_have_ended() -> None:
    job = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "job", "uid": "job", "creationTimestamp": "2026-06-30T11:59:00Z"},
        "spec": {"podRef": {"namespace": "default", "name": "other"}},
    }

    after = carry_out(evicting(), restarted("old"), pod_object("other"), job)

    assert after.snapshot.migration_jobs == ()


def test_moves_are_remembered_for_the_next_run() -> None:
    nodes = [node_object("a", taints=["maintenance:NoSchedule"]), node_object("b")]
    web = workload_object("ReplicaSet/web", replicas=10)

    after = carry_out(resting("10m"), *nodes, web, pod_object("old", node="a"))

    (move,) = RecentMoves.decoded(after.memory.of(RECENT_MOVES_KEY).note).moves
    assert (move.source, move.target, move.at) == ("a", "b", NOW)


def test_budget_recovers_once_the_replacement_is_ready() -> None:
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=1, current_healthy=2, desired_healthy=1)
    pods = [restarted("old", labels={"app": "web"}), pod_object("other", labels={"app": "web"})]

    after = carry_out(evicting(), *pods, budgets=(budget,))

    assert after.snapshot.budgets == (budget,)


_NAMES = st.sampled_from(["a", "b", "c"])
_PODS = st.lists(
    st.tuples(_NAMES, st.integers(1, 4), st.sampled_from(["web", "api", ""]), st.booleans()), min_size=1, max_size=12
)
_POLICIES = [evicting(), balancing(), policy_of("RemoveDuplicates")]


def cluster(pods: list[tuple[str, int, str, bool]]) -> Snapshot:
    """Three nodes with such pods: node, cores, ReplicaSet if any, and whether it has restarted."""
    objects = [
        pod_object(
            f"p{number}",
            node=node,
            cpu=f"{cores}",
            owners=[f"ReplicaSet/{name}"] if name else (),
            containers=RESTARTED if is_restarted else (),
        )
        for number, (node, cores, name, is_restarted) in enumerate(pods)
    ]
    return cluster_of(*(node_object(name, cpu="12") for name in "abc"), *objects)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(pods=_PODS, policy=st.sampled_from(_POLICIES))
def test_pods_are_kept_but_for_those_that_nobody_creates_again(
    pods: list[tuple[str, int, str, bool]], policy: Policy
) -> None:
    decisions = decide(policy, cluster(pods), now=NOW)

    after = carried_out(decisions, timedelta(minutes=1))

    lost = Counter(fates(after))["not created"]
    assert len(after.snapshot.pods) == len(pods) - lost
    assert len({pod.uid for pod in after.snapshot.pods}) == len(after.snapshot.pods)
    assert Counter(map(_owner, after.snapshot.pods)) == Counter(map(_owner, decisions.snapshot.pods)) - Counter(
        {"": lost}
    )


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(pods=_PODS, policy=st.sampled_from(_POLICIES))
def test_no_node_is_filled_beyond_what_it_has(pods: list[tuple[str, int, str, bool]], policy: Policy) -> None:
    decisions = decide(policy, cluster(pods), now=NOW)

    after = carried_out(decisions, FIVE_MINUTES)

    before = _requested(decisions.snapshot)
    assert all(nano <= max(before[node], 12 * 10**9) for node, nano in _requested(after.snapshot).items())


def _requested(snapshot: Snapshot) -> Counter[str]:
    """Node → CPU that its pods request."""
    requested: Counter[str] = Counter()
    for pod in snapshot.pods:
        requested[pod.node_name] += pod.spec.requests["cpu"]
    requested.pop("", None)
    return requested


def _owner(pod: object) -> str:
    controller = getattr(pod, "controller", None)
    return "" if controller is None else str(controller.uid)
