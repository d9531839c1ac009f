"""MigrationPlanner with ConsolidateNodes: nodes that topology spread constraints keep in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import make_node, make_pod
from tests.planner.choosing import run_choosing, targets
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

_ZONE = "topology.kubernetes.io/zone"
_DNS = {"app": "dns"}
_EVEN = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": _DNS},
}


def dns(node: str, cpu: str, *, constraint: dict[str, Any] = _EVEN, owners: Sequence[str] = ("ReplicaSet/dns",)) -> Pod:
    return make_pod(f"dns-{node}", node=node, cpu=cpu, labels=_DNS, spread=[constraint], owners=owners)


def run_on(names: str, pods: Sequence[Pod], **others: Any) -> Decisions:
    """On nodes of 10 CPU with these letters as names."""
    return run_objective("consolidateNodes", [make_node(name, cpu="10") for name in names], pods, **others)


def test_goal_of_a_plan_without_evictions_names_the_spread_in_the_way() -> None:
    decisions = run_on("abc", [dns(node, "1") for node in "abc"])

    why = "1/3 nodes are available for the replacement pod: 2 didn't match pod topology spread constraints"
    assert goal_of(decisions).sentence.startswith(
        "3 nodes in use → 3 with 0 evictions; no plan does better;"
        " node a is not emptied: pod default/dns-a cannot be evicted: the replacement pod would be scheduled onto a"
        f" again (onReturnToSource: refuseBalance); {why}; node b is not emptied"
    )


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("names", ["abc", "abcde"])
def test_node_is_not_emptied_while_its_domain_is_the_emptiest(names: str, packs: bool) -> None:
    """As long as the node is there and open, it counts with 0 pods once its own has left."""
    large = [make_pod(f"big-{node}", cpu="7", node=node, owners=["ReplicaSet/big"]) for node in names[:-1]]

    decisions = run_on(names, [*(dns(node, "100m") for node in names), *large], packs=packs)

    assert evicted(decisions) == []


def test_node_is_emptied_that_only_another_drain_lets_pods_leave() -> None:
    """Zones b and c have one pod each, and a has two: that of b may leave once one of a has come there."""
    zones = {"a-0": "a", "a-1": "a", "b-0": "b", "b-1": "b", "c-0": "c"}
    nodes = [make_node(name, cpu="4", labels={_ZONE: zone}) for name, zone in zones.items()]
    even = {**_EVEN, "topologyKey": _ZONE}
    pods = [
        dns("a-0", "1", constraint=even, owners=["ReplicaSet/small"]),
        dns("b-0", "2", constraint=even, owners=["ReplicaSet/large"]),
        dns("a-1", "4", constraint=even, owners=[]),
        dns("c-0", "2", constraint=even, owners=[]),
        make_pod("full", cpu="3", node="b-1", owners=[]),
    ]

    decisions = run_choosing("consolidateNodes", nodes, pods)

    assert targets(decisions) == {"dns-a-0": "b-1", "dns-b-0": "c-0"}
