"""RemovePodsViolatingNodeTaints: pods that do not tolerate a taint of their node."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.strategies.remove_pods_violating_node_taints import (
    RemovePodsViolatingNodeTaints,
    RemovePodsViolatingNodeTaintsArgs,
)
from tests.builders import make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

PLUGIN = "RemovePodsViolatingNodeTaints"


@pytest.mark.parametrize(
    ("taint", "args", "expected"),
    [
        pytest.param("k=v:NoSchedule", {}, True, id="a NoSchedule taint"),
        pytest.param("k=v:NoExecute", {}, False, id="the node controller sees to NoExecute"),
        pytest.param("k=v:PreferNoSchedule", {}, False, id="PreferNoSchedule only on request"),
        pytest.param("k=v:PreferNoSchedule", {"includePreferNoSchedule": True}, True, id="requested"),
        pytest.param("k=v:NoSchedule", {"excludedTaints": ["k"]}, False, id="a key that is excluded"),
        pytest.param("k=v:NoSchedule", {"excludedTaints": ["k=v"]}, False, id="an excluded pair"),
        pytest.param("k=w:NoSchedule", {"excludedTaints": ["k=v"]}, True, id="another pair"),
        pytest.param("k:NoSchedule", {"excludedTaints": ["k="]}, True, id="an empty value is no pair"),
        pytest.param("k=v:NoSchedule", {"includedTaints": ["k=v"]}, True, id="an included pair"),
        pytest.param("k=v:NoSchedule", {"includedTaints": ["other"]}, False, id="a taint that is not included"),
        pytest.param("k=v:NoSchedule", {"includedTaints": []}, False, id="an empty list includes none"),
        pytest.param("k=v:NoSchedule", {"namespaces": {"exclude": ["default"]}}, False, id="another namespace"),
    ],
)
def test_relevant_taints(taint: str, args: dict[str, Any], expected: bool) -> None:
    assert (
        evicted(run_plugin(PLUGIN, [make_node("a", taints=[taint])], [make_pod("p")], args=args)) == ["p"]
    ) is expected


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param({"key": "k", "operator": "Equal", "value": "v"}, False, id="the very taint"),
        pytest.param({"key": "k", "operator": "Equal", "value": "w"}, True, id="another value"),
        pytest.param({"operator": "Exists"}, False, id="everything"),
        pytest.param({"key": "k", "operator": "Exists", "effect": "NoExecute"}, True, id="another effect"),
    ],
)
def test_tolerations(toleration: dict[str, Any], expected: bool) -> None:
    pod = make_pod("p", tolerations=[toleration])

    assert (evicted(run_plugin(PLUGIN, [make_node("a", taints=["k=v:NoSchedule"])], [pod])) == ["p"]) is expected


def test_all_taints_must_be_tolerated_and_the_first_that_is_not_is_named() -> None:
    node = make_node("a", taints=["k=v:NoSchedule", "other:NoSchedule"])
    pod = make_pod("p", tolerations=[{"key": "k", "operator": "Exists"}])

    decisions = run_plugin(PLUGIN, [node], [pod])

    assert [booked.reason for booked in decisions.moves] == ["does not tolerate taint other:NoSchedule of node a"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["p0", "p2"], id="a full node ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["p0"], id="a full run ends the strategy"),
        pytest.param({"maxNoOfPodsToEvictPerNamespace": 1}, ["p0"], id="a full namespace costs its own pods"),
    ],
)
def test_reaction_to_limits(limits: dict[str, int], expected: list[str]) -> None:
    nodes = [make_node(name, taints=["k:NoSchedule"]) for name in "ab"]
    pods = [make_pod(f"p{n}", node=node) for n, node in enumerate("aab")]

    assert evicted(run_plugin(PLUGIN, nodes, pods, policy=limits)) == expected


def test_taints_that_are_listed_by_thousands_are_looked_up() -> None:
    """Each of them was compared with each taint of each node."""
    num_compared = 0

    class Listed(str):
        def __eq__(self, other: object) -> bool:
            nonlocal num_compared
            num_compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    nodes = [make_node(f"n{number}", taints=[f"k{number}=v:NoSchedule"]) for number in range(10)]
    args = RemovePodsViolatingNodeTaintsArgs(excluded_taints=tuple(Listed(f"k{number}") for number in range(1000)))
    plugin = RemovePodsViolatingNodeTaints(args, cast("StrategyHandle", SimpleNamespace(view=None, evictor=None)))

    plugin.deschedule(nodes)

    assert num_compared <= 20
