"""Nodes that a run cordons: which of them, and the cluster while it evicts."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.cordons import cordon_notes, cordoned_by, kept_cordoned_by, with_cordons
from descheduler.model.pod import Pod
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.policy.builders import koordinator
from tests.report.decided_cycles import pod_life_time_policy

OLD = {"image": "old"}
NODES = [
    make_node("a", labels=OLD),
    make_node("b", labels=OLD, unschedulable=True),
    make_node("c", labels=OLD, ready=False),
    make_node("d"),
    make_node("e", labels={**OLD, "pool": "x"}),
]


def policy(cordon: str = "true", top: str = "", profile: str = "") -> Policy:
    """A policy that drains old nodes."""
    return load_policy(
        koordinator(
            f"{top}\n"
            "profiles:\n"
            "- name: p\n"
            f"  {profile}\n"
            "  pluginConfig:\n"
            "  - name: MigrationPlanner\n"
            "    args:\n"
            f"      objectives: [{{drainNodes: {{nodeSelector: {{matchLabels: {{image: old}}}}, cordon: {cordon}}}}}]\n"
            "      workLimit: 1\n"
            "  plugins: {balance: {enabled: [{name: MigrationPlanner}]}}\n"
        ),
        REGISTRY,
    )


WEB = make_pod("web", node="a")
SELECTED = "nodeSelector: {matchLabels: {pool: x}}"


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        pytest.param({}, "ae", id="all that the policy processes"),
        pytest.param({"cordon": "false"}, "", id="none where it does not ask for it"),
        pytest.param({"top": SELECTED}, "e", id="those of the policy's selector"),
        pytest.param({"profile": SELECTED}, "e", id="those of the profile's selector"),
    ],
)
def test_run_cordons_nodes_that_it_drains_and_that_are_open(facts: dict[str, Any], names: str) -> None:
    snapshot = make_snapshot(NODES)

    cordoned = with_cordons(policy(**facts), snapshot, REGISTRY)

    assert cordoned_by(policy(**facts), snapshot, REGISTRY) == set(names)
    assert {node.name for node in cordoned.nodes if node.cordoned_by_run} == set(names)
    assert {node.name for node in cordoned.nodes if node.unschedulable} == {*names, "b"}
    assert (cordoned is snapshot) is (not names)


def test_nodes_that_were_cordoned_before_stay_so() -> None:
    assert kept_cordoned_by(policy(), make_snapshot(NODES), REGISTRY) == set("abe")


@pytest.mark.parametrize(
    ("cordon", "pods", "note"),
    [
        ("true", [WEB], ("a live run cordons 1 node before the first eviction (cordon: true): a",)),
        ("true", [], ()),
        ("false", [WEB], ()),
    ],
)
def test_plan_names_the_nodes_that_are_cordoned_where_something_is_evicted(
    cordon: str, pods: list[Pod], note: tuple[str, ...]
) -> None:
    snapshot = make_snapshot([make_node("a", labels=OLD), make_node("d"), make_node("e")], pods)
    evicting = load_policy(pod_life_time_policy(), REGISTRY)

    decisions = decide(evicting, with_cordons(policy(cordon), snapshot, REGISTRY), now=NOW)

    assert cordon_notes(decisions) == note
