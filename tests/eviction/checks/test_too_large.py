"""Pods that no other node could hold even when empty."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.too_large import TooLargeCheck
from descheduler.model.node import Node
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.load import load_policy
from tests.builders import make_node, make_pod, make_snapshot

LARGE, SMALL = make_node("large", cpu="16"), make_node("small", cpu="4")


def answer(nodes: list[Node], *, plugin: str = "LowNodeLoad", history: dict[str, Any] | None = None) -> Reason | None:
    """What is said about a pod of 8 CPUs on node `large`, asked for by a plugin."""
    args = {} if history is None else {"moveHistory": history}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "p",
                "plugins": {"balance": {"enabled": [{"name": "LowNodeLoad"}]}},
                "pluginConfig": [
                    {"name": "MigrationController", "args": args},
                    {"name": "LowNodeLoad", "args": {"lowThresholds": {"cpu": 20}, "highThresholds": {"cpu": 70}}},
                ],
            }
        ],
    }
    pod = make_pod("p", node="large", cpu="8")
    check = TooLargeCheck(load_policy(policy, REGISTRY).profiles, make_snapshot(nodes, [pod]))
    return check.verdict(Bundle("p", plugin, (Candidate(pod),))).reason


def test_pod_that_only_its_own_node_can_hold_is_left_alone_by_plugins_that_balance() -> None:
    assert answer([LARGE, SMALL], history={}) is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("nodes", "others"),
    [
        pytest.param([LARGE, SMALL, make_node("second", cpu="16")], {"history": {}}, id="another node is as large"),
        pytest.param([LARGE, SMALL], {"history": {}, "plugin": "PodLifeTime"}, id="the plugin does not balance"),
        pytest.param([LARGE, SMALL], {"history": {"refuseTooLarge": False}}, id="it is allowed"),
        pytest.param([LARGE, SMALL], {}, id="the profile has no moveHistory"),
    ],
)
def test_pod_is_not_judged_too_large_where(nodes: list[Node], others: dict[str, Any]) -> None:
    assert answer(nodes, **others) is None
