"""RemovePodsHavingTooManyRestarts: pods whose containers restart too often."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import container_status, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node("a"), make_node("b")]
PLUGIN = "RemovePodsHavingTooManyRestarts"


def restarts(*counts: int, **state: Any) -> list[dict[str, Any]]:
    """Statuses of one container for each count."""
    return [container_status(count, **state) for count in counts]


@pytest.mark.parametrize(
    ("args", "facts", "expected"),
    [
        pytest.param({}, {"containers": restarts(10)}, True, id="as many as the threshold"),
        pytest.param({}, {"containers": restarts(9)}, False, id="one fewer"),
        pytest.param({}, {"containers": restarts(4, 6)}, True, id="containers are added up"),
        pytest.param(
            {}, {"containers": restarts(5), "init_containers": restarts(5)}, False, id="without init containers"
        ),
        pytest.param(
            {"includingInitContainers": True},
            {"containers": restarts(5), "init_containers": restarts(5)},
            True,
            id="with them on request",
        ),
        pytest.param({"states": ["Running"]}, {"containers": restarts(10)}, True, id="the phase is a state"),
        pytest.param({"states": ["CrashLoopBackOff"]}, {"containers": restarts(10)}, False, id="a state it is not in"),
        pytest.param(
            {"states": ["CrashLoopBackOff"]},
            {"containers": restarts(10, waiting="CrashLoopBackOff")},
            True,
            id="why a container waits is a state",
        ),
        pytest.param(
            {"states": ["CrashLoopBackOff"]},
            {"containers": restarts(10), "init_containers": restarts(0, waiting="CrashLoopBackOff")},
            False,
            id="not that of an init container",
        ),
        pytest.param(
            {"namespaces": {"exclude": ["default"]}}, {"containers": restarts(10)}, False, id="other namespaces"
        ),
    ],
)
def test_pod_is_selected(args: dict[str, Any], facts: dict[str, Any], expected: bool) -> None:
    pod = make_pod("p", **facts)

    assert (evicted(run_plugin(PLUGIN, NODES, [pod], args={"podRestartThreshold": 10} | args)) == ["p"]) is expected


def test_most_restarts_of_a_node_go_first() -> None:
    pods = [
        make_pod("few", containers=restarts(10)),
        make_pod("many", containers=restarts(99)),
        make_pod("elsewhere", node="b", containers=restarts(500)),
    ]

    assert evicted(run_plugin(PLUGIN, NODES, pods, args={"podRestartThreshold": 10})) == ["many", "few", "elsewhere"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["p0", "p2"], id="a full node ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["p0"], id="a full run ends the strategy"),
    ],
)
def test_reaction_to_limits(limits: dict[str, int], expected: list[str]) -> None:
    pods = [make_pod(f"p{n}", node=node, containers=restarts(10)) for n, node in enumerate("aab")]

    assert evicted(run_plugin(PLUGIN, NODES, pods, args={"podRestartThreshold": 10}, policy=limits)) == expected


def test_sentence_names_the_restarts() -> None:
    decisions = run_plugin(PLUGIN, NODES, [make_pod("p", containers=restarts(12))], args={"podRestartThreshold": 10})

    assert [booked.reason for booked in decisions.moves] == ["restarted 12 times (podRestartThreshold: 10)"]
