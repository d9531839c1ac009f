"""Whether a planned move still holds, by what is read of the nodes right before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.recheck import Footprints
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from descheduler.plan.planned import DueMove, PlannedEviction
from tests.builders import make_node, make_pod, make_snapshot


class LiveCluster(ObjectCalls):
    """Nodes and pods as they are now, and the names of the nodes whose pods were listed."""

    def __init__(self, nodes: Sequence[Node], pods: Sequence[Pod]) -> None:
        self._nodes, self._now = nodes, pods
        self.looked_at: list[str] = []

    def list(
        self,
        list_path: str,
        decode: Callable[[bytes], Any],
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> tuple[Any, ...]:
        """The one node, or its pods."""
        del decode, label_selector
        name = str(field_selector).partition("=")[2]
        if list_path.endswith("/nodes"):
            return tuple(node for node in self._nodes if node.name == name)
        self.looked_at.append(name)
        return tuple(pod for pod in self._now if pod.node_name == name)


SOURCE = make_node("source", cpu="32", unschedulable=True)


def small_nodes(number: int) -> list[Node]:
    """Nodes that one pod fills, by name after eight larger ones, which were free in the plan and are full now."""
    larger = [make_node(f"large-{index}", cpu="3") for index in range(8)]
    return [SOURCE, *larger, *(make_node(f"small-{index}", cpu="1") for index in range(number))]


def planned(pods: Sequence[Pod], nodes: Sequence[Node], targets: Sequence[str]) -> list[DueMove]:
    """The moves of `pods` to these nodes, as a plan has them."""
    prover = LandingProver(make_snapshot(nodes, pods))
    found = []
    for pod, target in zip(pods, targets, strict=True):
        landing = msgspec.structs.replace(prover.consider(pod), node=target, ties=(target,))
        eviction = PlannedEviction(pod.namespace, pod.name, pod.uid, "source", "p", "PodLifeTime", landing=landing)
        found.append(DueMove(eviction, pod))
    return found


def test_replacement_may_have_the_node_of_another_one_that_has_come_to_its_own() -> None:
    """Both are of equal score, so which of them takes which is chance."""
    nodes, pods = small_nodes(2), [make_pod(name, node="source", cpu="1") for name in ("first", "second")]
    first, second = planned(pods, nodes, ["small-0", "small-1"])
    full = [make_pod(f"full-{index}", node=f"large-{index}", cpu="3") for index in range(8)]
    came = make_pod("first-", node="small-1", cpu="1")
    live = LiveCluster(nodes, [pods[1], *full, came])
    footprints = Footprints(live, make_snapshot(nodes, pods))
    footprints.recheck([first], ())

    found = footprints.recheck([second], ())

    assert found.objections == {}
    assert live.looked_at[-1] == "small-0"


def test_pod_stays_where_the_nodes_of_all_others_are_taken_too() -> None:
    nodes, pods = small_nodes(2), [make_pod(name, node="source", cpu="1") for name in ("first", "second")]
    first, second = planned(pods, nodes, ["small-0", "small-1"])
    full = [make_pod(f"full-{index}", node=f"large-{index}", cpu="3") for index in range(8)]
    came = [make_pod(f"other-{index}", node=f"small-{index}", cpu="1") for index in range(2)]
    footprints = Footprints(LiveCluster(nodes, [pods[1], *full, *came]), make_snapshot(nodes, pods))
    footprints.recheck([first], ())

    found = footprints.recheck([second], ())

    assert list(found.objections) == [pods[1].uid]
    assert "no node that fitted the pod in the plan fits it now; node small-1: insufficient cpu" in str(found)
