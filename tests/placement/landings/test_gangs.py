"""Pods that are placed together: pending gangs, what rooms they need, and replacements beside them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from tests.builders import Object, pod_object
from tests.placement.considered import LANDS, LANDS_IF, NO
from tests.placement.plugins.coscheduling.worlds import group_of, member, nodes_of
from tests.placement.plugins.coscheduling.worlds import prover_of as koordinator
from tests.placement.volcano.worlds import group, node, owned, plugin, pods, priority_class, prover_of, queue
from tests.placement.workloads import cluster_of, pod_named, workload_object

PLAIN_PLUGINS = [plugin("gang"), plugin("predicates")]
PLAIN = {"actions": "enqueue, allocate", "tiers": [{"plugins": PLAIN_PLUGINS}]}


def gang_world(*objects: Any, cpu: str = "4") -> tuple[LandingProver, dict[str, Pod]]:
    """Volcano, whose queues have no limits, over one node of so many cores."""
    prover, found = prover_of(node("a", cpu=cpu), *objects, configuration=PLAIN)
    return prover, dict(found)


def test_pending_pod_shares_a_unit_with_those_without_which_it_is_not_placed() -> None:
    prover, pod = gang_world(
        [group("gang", least=3), *pods("gang", 3), group("pair", least=1), *pods("pair", 2)],
        [group("alone"), *pods("alone", 1)],
        cpu="500m",
    )
    openings = prover.openings()

    assert [openings.unit_of_pending(pod[f"{name}-0"]) for name in ("gang", "pair", "alone")] == ["batch/gang", "", ""]


def test_pod_of_a_pending_gang_is_looked_at_with_the_others_that_are_named() -> None:
    """Alone it lacks them, with pods of another gang it does as well."""
    names = ("train", "other")
    waiting = {(name, index): member(f"{name}-{index}", name, node="") for name in names for index in range(2)}
    prover = koordinator(nodes_of(1), waiting.values(), [group_of(name, 2) for name in names])
    pod, openings = waiting["train", 0], prover.openings()

    assert openings.refusal_of_pending(pod, (pod, waiting["train", 1])) == ""
    assert openings.refusal_of_pending(pod) == openings.refusal_of_pending(pod, (pod, waiting["other", 1])) != ""


@pytest.mark.parametrize(
    ("number", "placed"), [pytest.param(4, 4, id="all have room"), pytest.param(5, 0, id="one has none")]
)
def test_pending_gang_is_placed_whole_or_not_at_all(number: int, placed: int) -> None:
    prover, _ = gang_world(group("gang", least=number), pods("gang", number))

    assert len(list(prover.scheduled())) == placed
    assert len(prover.still_pending()) == number - placed


def test_pods_beyond_the_minimum_are_placed_as_far_as_they_fit() -> None:
    prover, _ = gang_world(group("gang", least=2), pods("gang", 6))

    assert (len(list(prover.scheduled())), len(prover.still_pending())) == (4, 2)


def test_jobs_of_several_queues_have_their_turns() -> None:
    """Each queue has half of the cluster; the room of both is used."""
    queues = [queue("red"), queue("blue")]
    jobs = [group(name, queue=name) for name in ("red", "blue")]
    prover, _ = prover_of(node("a", cpu="4"), *queues, *jobs, *(pods(name, 4) for name in ("red", "blue")))

    placed = sorted(pod.name for pod, _ in prover.scheduled())

    assert placed == ["blue-0", "blue-1", "red-0", "red-1"]


def test_pod_of_kube_scheduler_waits_beside_jobs_of_volcano() -> None:
    """Those of higher priority go first, whoever places them."""
    plain = pod_object("plain", node="", cpu="3", phase="Pending", priority=9, owners=["ReplicaSet/plain"])
    prover, _ = gang_world(group("gang", least=2), pods("gang", 2), plain)

    assert {pod.name for pod, _ in prover.scheduled()} == {"plain"}


@pytest.mark.parametrize(
    ("running", "waits", "verdict", "told"),
    [
        pytest.param("low", "high", NO, "comes first by its queue and job, and is scheduled onto a", id="better"),
        pytest.param("high", "low", LANDS_IF, "", id="worse"),
    ],
)
def test_pending_job_goes_before_a_replacement_by_the_order_of_volcano(
    running: str, waits: str, verdict: Any, told: str
) -> None:
    """Priorities of pods do not count."""
    prover, pod = prover_of(
        [node("a", cpu="2"), priority_class("low", 1), priority_class("high", 9)],
        [group("job", phase="Running", priorityClassName=running), *owned(pods("job", 1, on="a", cpu="2"))],
        [group("waits", priorityClassName=waits), *pods("waits", 1, cpu="2")],
        configuration={"actions": "enqueue, allocate", "tiers": [{"plugins": [plugin("priority"), *PLAIN_PLUGINS]}]},
    )

    found = prover.book(pod["job-0"])

    assert found.verdict is verdict
    assert told in found.message


def test_whole_gang_that_leaves_comes_back_where_all_of_it_fits() -> None:
    old: Any = {**node("old"), "spec": {"unschedulable": True}}
    running = [group("gang", least=3, phase="Running"), *owned(pods("gang", 3, on="old"))]

    for cpu, verdict in (("3", LANDS), ("2", NO)):
        prover, pod = prover_of(node("a", cpu=cpu), old, *running, configuration=PLAIN)
        assert prover.prove_further([pod[f"gang-{n}"] for n in range(3)], are_mates=True).verdict is verdict


def job(**spec: Any) -> Object:
    return workload_object("Job/sum", completions=1, **spec)


@pytest.mark.parametrize(
    ("owner", "workloads", "ends"),
    [
        pytest.param("Job/sum", [job(backoffLimit=0)], True, id="a Job that may not fail"),
        pytest.param("Job/sum", [job(backoffLimit=3)], False, id="a Job that may"),
        pytest.param("ReplicaSet/web", [workload_object("ReplicaSet/web")], False, id="a ReplicaSet"),
        pytest.param("Workflow/x", [], False, id="an unknown owner"),
    ],
)
def test_eviction_that_ends_its_owner_is_told(owner: str, workloads: list[Object], ends: bool) -> None:
    snapshot = cluster_of(pod_object("victim", owners=[owner]), pod_object("bare", owners=[]), *workloads)
    prover = LandingProver(snapshot)

    assert prover.ends_owner(pod_named(snapshot, "victim")) is ends
    assert not prover.ends_owner(pod_named(snapshot, "bare"))
