"""A hint at preemption is given only where the scheduler preempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import HOSTNAME


@pytest.mark.parametrize(
    ("post_filter", "hint"),
    [
        pytest.param(
            {}, "it would be scheduled onto b if pod default/low (priority 0) is preempted there", id="by default"
        ),
        pytest.param({"disabled": [{"name": "DefaultPreemption"}]}, "", id="without DefaultPreemption"),
        pytest.param({"disabled": [{"name": "*"}]}, "", id="without any plugin at postFilter"),
    ],
)
def test_profile_that_preempts_nobody_gives_no_hint(post_filter: dict[str, object], hint: str) -> None:
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"postFilter": post_filter}}],
        },
        plugins=PLUGINS,
    )
    victim = make_pod("victim", node="a", cpu="2", priority=1000, owners=["ReplicaSet/victim"])
    low = make_pod("low", node="b", cpu="2", priority=0, owners=["ReplicaSet/low"])
    nodes = [make_node("a", cpu="2", unschedulable=True), make_node("b", cpu="2")]

    prover = LandingProver(make_snapshot(nodes, [victim, low]), configuration=configuration)

    assert prover.preemption_hint(victim) == hint


def hint(*pods: Pod, nodes: Sequence[Node] = (), **facts: Any) -> str:
    """That for a victim of priority 10 and 2 cores on a cordoned node."""
    victim = make_pod("victim", node="full", cpu="2", priority=10, owners=["ReplicaSet/victim"], **facts)
    there = [make_node("full", cpu="2", unschedulable=True), *(nodes or [make_node("b", cpu="2")])]
    return LandingProver(make_snapshot(there, [victim, *pods])).preemption_hint(victim)


def low(name: str, *, cpu: str = "2", priority: int | None = 0, node: str = "b", **facts: Any) -> Pod:
    return make_pod(name, node=node, cpu=cpu, priority=priority, owners=[f"ReplicaSet/{name}"], **facts)


def onto_b(*names: str) -> str:
    """The sentence about pods on b, each with its priority."""
    who = f"pod {names[0]} is" if len(names) == 1 else f"pods {', '.join(names)} are"
    return f"it would be scheduled onto b if {who} preempted there"


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param([low("equal", priority=10)], "", id="a pod of the same priority stays"),
        pytest.param([low("below", priority=9)], onto_b("default/below (priority 9)"), id="one below it goes"),
        pytest.param([low("none", priority=None)], onto_b("default/none (priority 0)"), id="no priority is 0"),
        pytest.param([low("small", cpu="500m"), low("high", priority=20, cpu="1500m")], "", id="it is not enough"),
        pytest.param(
            [low("high", cpu="1", priority=5), low("low", cpu="1", priority=1)],
            onto_b("default/high (priority 5)", "default/low (priority 1)"),
            id="all that are in the way, the highest first",
        ),
    ],
)
def test_pods_of_lower_priority_are_preempted_where_that_is_enough(pods: list[Pod], expected: str) -> None:
    assert hint(*pods) == expected


def test_pods_of_higher_priority_stay_where_others_are_enough() -> None:
    pods = [low("five", cpu="1", priority=5), low("one", cpu="2", priority=1)]

    assert hint(*pods, nodes=[make_node("b", cpu="3")]) == onto_b("default/one (priority 1)")


def test_three_pods_are_named_and_the_others_counted() -> None:
    pods = [low(f"p{number}", cpu="500m", priority=number) for number in range(4)]

    assert hint(*pods) == (
        "it would be scheduled onto b if pods default/p3 (priority 3), default/p2 (priority 2),"
        " default/p1 (priority 1) and 1 more are preempted there"
    )


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(make_node("b", cpu="2", taints=["x:NoSchedule"]), id="a taint"),
        pytest.param(make_node("b", cpu="2", unschedulable=True), id="cordoned"),
        pytest.param(make_node("b", cpu="1"), id="too small"),
    ],
)
def test_no_pod_is_preempted_on_a_node_that_stays_closed(node: Node) -> None:
    assert hint(low("low"), nodes=[node]) == ""


def test_first_node_where_preemption_helps_is_named() -> None:
    nodes = [make_node("a", cpu="2"), make_node("b", cpu="2")]

    assert hint(low("high", node="a", priority=20), low("low"), nodes=nodes) == onto_b("default/low (priority 0)")


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"spec": {"preemptionPolicy": "Never"}}, id="it preempts nobody"),
        pytest.param({"spec": {"schedulingGates": [{"name": "wait"}]}}, id="it is not queued"),
    ],
)
def test_pod_that_preempts_nobody_gives_no_hint(facts: Any) -> None:
    assert hint(low("low"), **facts) == ""


def test_pod_that_fits_gives_no_hint() -> None:
    assert hint(low("low"), nodes=[make_node("b", cpu="4")]) == ""


def test_bare_pod_gives_no_hint() -> None:
    victim = make_pod("victim", node="a", cpu="2", priority=10, owners=[])
    snapshot = make_snapshot([make_node("a", unschedulable=True), make_node("b", cpu="2")], [victim, low("low")])

    assert LandingProver(snapshot).preemption_hint(victim) == ""


def test_pod_that_is_evicted_already_is_not_preempted() -> None:
    victim = make_pod("victim", node="full", cpu="2", priority=10, owners=["ReplicaSet/victim"])
    booked = low("booked", cpu="1", node_selector={HOSTNAME: "c"})
    nodes = [make_node("full", cpu="2", unschedulable=True), make_node("b", cpu="2"), make_node("c", cpu="1")]
    prover = LandingProver(make_snapshot(nodes, [victim, booked, low("low", cpu="1")]))

    prover.book(booked)

    assert prover.preemption_hint(victim) == onto_b("default/low (priority 0)")
