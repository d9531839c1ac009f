"""How pods are taken off source nodes: which destinations let them in, and where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.selection.taints import Toleration
from descheduler.strategies.node_utilization.classify import NodeLoad, SettledLoads
from descheduler.strategies.node_utilization.eviction import Destinations, NodeLimit
from descheduler.strategies.node_utilization.usage import MetricsServerUsage, RequestedUsage
from tests.builders import Object, make_node, make_pod, make_view
from tests.strategies.asked import Asked
from tests.strategies.node_utilization.worlds import pods_on, small_node

LOAD = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 60}}


def destinations(*taints: Sequence[str], counts_tolerations: bool = False, free: int = 1) -> Destinations:
    """Nodes with these taints that have so much free."""
    loads = [NodeLoad(make_node(f"n{place}", taints=each), (), {}, {}) for place, each in enumerate(taints)]
    return Destinations(loads, {"cpu": free, "pods": 5}, counts_tolerations=counts_tolerations)


TOLERATES_A = (Toleration("a", "Exists"),)


@pytest.mark.parametrize(
    ("taints", "tolerations", "is_open", "is_open_upstream"),
    [
        pytest.param([[]], (), True, True, id="no taints"),
        pytest.param([["a:NoSchedule"]], (), False, False, id="a taint that is not tolerated"),
        pytest.param([["a:NoSchedule"]], TOLERATES_A, True, True, id="a taint that is tolerated"),
        pytest.param([["a:NoSchedule"], []], (), True, True, id="one node is enough"),
        pytest.param([["a:PreferNoSchedule"]], (), True, False, id="a preference counts upstream alone"),
        pytest.param(
            [["a=1:NoSchedule", "a=2:NoExecute"]], TOLERATES_A, True, False, id="upstream counts taints and tolerations"
        ),
        pytest.param([["a=1:NoSchedule", "b:NoSchedule"]], TOLERATES_A, False, False, id="one of two is tolerated"),
        pytest.param([], (), False, False, id="no node"),
    ],
)
def test_pods_are_let_in(
    taints: list[list[str]], tolerations: tuple[Toleration, ...], is_open: bool, is_open_upstream: bool
) -> None:
    assert destinations(*taints).are_open_to(tolerations) is is_open
    assert destinations(*taints, counts_tolerations=True).are_open_to(tolerations) is is_open_upstream


def test_room_ends_with_the_last_of_any_resource() -> None:
    found = destinations([], free=2)

    states = [(found.have_room, found.short_of)]
    for _ in range(2):
        found.take({"cpu": 1, "pods": 1})
        states.append((found.have_room, found.short_of))

    assert states == [(True, []), (True, []), (False, ["cpu"])]


@pytest.mark.parametrize(("most", "value"), [(3, 3), ("50%", 4), ("1%", 1)])
def test_limit_of_a_node_may_be_a_share_of_its_pods(most: int | str, value: int) -> None:
    assert NodeLimit(most, {"a": 9}).of("a").value == value


@pytest.mark.parametrize(
    ("limit", "expected"),
    [pytest.param(1, 1, id="one"), pytest.param(2, 2, id="two"), pytest.param("20%", 1, id="a fifth of nine pods")],
)
def test_no_more_pods_leave_a_node_than_its_limit(limit: int | str, expected: int) -> None:
    nodes, pods = [small_node("full"), small_node("idle")], pods_on("full", 9)

    asked = Asked("LowNodeUtilization", nodes, pods, args={**LOAD, "evictionLimits": {"node": limit}})

    assert len(asked.evicted) == expected
    assert [refusal.verdict.code for refusal in asked.decisions.refusals] == ["LimitReached"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["x", "y"], id="that of a node ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["x"], id="that of the run ends the plugin"),
        pytest.param({"maxNoOfPodsToEvictPerNamespace": 1}, ["x"], id="that of a namespace is one of its pods alone"),
    ],
)
def test_limits_of_the_run(policy: Object, expected: list[str]) -> None:
    nodes = [small_node(name) for name in ("x", "y", "idle")]
    pods = [*pods_on("x", 9), *pods_on("y", 8)]

    asked = Asked("LowNodeUtilization", nodes, pods, args=LOAD, policy=policy)

    assert [move.pod.node_name for move in asked.decisions.moves] == expected


class TestSettledLoads:
    """What a node uses once a replacement is there, beside what has left and come."""

    nodes = (make_node("a", cpu="10"), make_node("b", cpu="10"))
    pods = (make_pod("p", cpu="2"), make_pod("q", cpu="3"), make_pod("r", node="b", cpu="1"))

    def cores(self, source: Any, *, node: str = "b", arrived: Sequence[Pod] = ()) -> float:
        """The cores in use on a node when the replacement of `p` comes to it."""
        view = make_view(self.nodes, self.pods, moves_take_effect=True)
        view.book_eviction(self.pods[0])
        for pod in arrived:
            view.book_eviction(self.pods[1], pod)
        arrival = make_pod("p+", node=node, cpu="2", uid="")
        return SettledLoads(source).with_arrival(arrival, self.pods[0], view).usage["cpu"] / NANO

    def measured(self, *, knows: str = "pqr") -> MetricsServerUsage:
        """Measured usage: each pod uses half a core, and the system one."""
        core = {"cpu": NANO // 2, "memory": 0}
        return MetricsServerUsage(
            ("cpu", "memory", "pods"),
            nodes={"a": NodeUsage("a", {"cpu": 2 * NANO}), "b": NodeUsage("b", {"cpu": 3 * NANO // 2})},
            pods={("default", name): PodUsage("default", name, (core,)) for name in knows},
        )

    def test_requests_of_what_is_there(self) -> None:
        source = RequestedUsage(("cpu", "pods"))

        assert self.cores(source) == 3
        assert self.cores(source, node="a") == 5
        assert self.cores(source, arrived=[make_pod("q+", node="b", cpu="4", uid="")]) == 7

    def test_measured_usage_of_what_left_goes_with_it(self) -> None:
        assert self.cores(self.measured()) == 2
        assert self.cores(self.measured(), node="a") == 2
        assert self.cores(self.measured(), arrived=[make_pod("q+", node="b", cpu="4", uid="")]) == 2.5

    def test_usage_of_a_pod_that_was_not_measured_changes_nothing(self) -> None:
        assert self.cores(self.measured(knows="r")) == 1.5

    def test_pods_that_come_later_count(self) -> None:
        view = make_view(self.nodes, self.pods, moves_take_effect=True)
        settled, arrival = SettledLoads(RequestedUsage(("cpu", "pods"))), make_pod("p+", node="b", cpu="2", uid="")
        view.book_eviction(self.pods[0])

        before = settled.with_arrival(arrival, self.pods[0], view).usage["cpu"]
        again = settled.with_arrival(arrival, self.pods[0], view).usage["cpu"]
        view.book_eviction(self.pods[2])
        after = settled.with_arrival(arrival, self.pods[0], view).usage["cpu"]

        assert [each // NANO for each in (before, again, after)] == [3, 3, 2]

    def test_pods_that_have_finished_do_not_count(self) -> None:
        done = make_pod("done", node="b", cpu="5", phase="Succeeded")
        view = make_view(self.nodes, [*self.pods, done], moves_take_effect=True)

        load = SettledLoads(RequestedUsage(("cpu", "pods"))).with_arrival(
            make_pod("p+", node="b", cpu="2", uid=""), self.pods[0], view
        )

        assert load.usage == {"cpu": 3 * NANO, "pods": 2 * NANO}
        assert load.percent["cpu"] == 30.0
