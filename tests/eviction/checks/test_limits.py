"""Limits of one run."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import BackgroundEvictions, EvictionAnswer
from descheduler.eviction.checks.limits import EvictionCounters, LimitCheck, RunLimits, limits_of
from descheduler.eviction.cluster_view import ClusterCounts
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit, LimitReached
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.load import load_policy
from tests.builders import make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param(RunLimits(), None, id="nothing is limited by default"),
        pytest.param(RunLimits(total=0), EvictionLimit.TOTAL, id="0 forbids all"),
        pytest.param(RunLimits(per_node=0), EvictionLimit.NODE, id="on every node"),
        pytest.param(RunLimits(per_namespace=0), EvictionLimit.NAMESPACE, id="in every namespace"),
        pytest.param(RunLimits(0, 0, 0), EvictionLimit.TOTAL, id="the total is asked first"),
        pytest.param(RunLimits(0, 0, 1), EvictionLimit.NODE, id="then the node"),
    ],
)
def test_first_limit_in_order_refuses(limits: RunLimits, expected: EvictionLimit | None) -> None:
    assert EvictionCounters(limits).verdict(make_pod("p")).limit is expected


@pytest.mark.parametrize(
    ("limits", "other", "expected"),
    [
        pytest.param(RunLimits(per_node=1), make_pod("q", node="a"), EvictionLimit.NODE, id="same node"),
        pytest.param(RunLimits(per_node=1), make_pod("q", node="b"), None, id="another node"),
        pytest.param(RunLimits(per_namespace=1), make_pod("q", node="b"), EvictionLimit.NAMESPACE, id="same namespace"),
        pytest.param(RunLimits(per_namespace=1), make_pod("q", namespace="z"), None, id="another namespace"),
        pytest.param(RunLimits(total=1), make_pod("q", node="b", namespace="z"), EvictionLimit.TOTAL, id="the total"),
        pytest.param(RunLimits(total=2), make_pod("q"), None, id="a limit that is not reached"),
    ],
)
def test_counted_evictions_use_limits_up(limits: RunLimits, other: Pod, expected: EvictionLimit | None) -> None:
    counters = EvictionCounters(limits)
    counters.count(make_pod("p", node="a"))

    assert counters.verdict(other).limit is expected


def test_unbound_pod_has_no_node_limit() -> None:
    assert EvictionCounters(RunLimits(per_node=0)).verdict(make_pod("p", node="")).is_accepted


def test_each_limit_is_there_where_it_is_given() -> None:
    of_namespaces, of_nodes = RunLimits(per_namespace=3), RunLimits(per_node=2)

    assert [of_namespaces.at(limit, "a", "default") for limit in (EvictionLimit.TOTAL, EvictionLimit.NODE)] == [
        None
    ] * 2
    assert of_namespaces.at(EvictionLimit.NAMESPACE, "", "x") == LimitReached(EvictionLimit.NAMESPACE, 3, "x")
    assert of_nodes.at(EvictionLimit.NAMESPACE, "a", "x") is None
    assert of_nodes.at(EvictionLimit.NODE, "a", "x") == LimitReached(EvictionLimit.NODE, 2, "a")
    assert of_nodes.at(EvictionLimit.NODE, "", "x") is None


def test_what_is_left_of_each_limit_is_told_by_its_name() -> None:
    counts = ClusterCounts(total=20, by_node={"a": 10}, by_namespace={"default": 20})
    counters = EvictionCounters(RunLimits(per_node="20%", per_namespace=3, total=5, pods=counts))
    undo = counters.count(make_pod("p", node="a"))
    pod = make_pod("q", node="a")

    def left() -> list[tuple[int, str]]:
        found = [(each, each.key_of(pod)) for each in counters.allowances()]
        return [(each.left(key), each.name_of(key)) for each, key in found if key is not None]

    names = [
        "maxNoOfPodsToEvictTotal (5)",
        "maxNoOfPodsToEvictPerNode (20%: 2 of 10 pods)",
        "maxNoOfPodsToEvictPerNamespace (3)",
    ]
    assert left() == list(zip((4, 1, 2), names, strict=True))
    undo()
    assert left() == list(zip((5, 2, 3), names, strict=True))


def test_limits_that_are_not_given_leave_nothing_to_tell() -> None:
    assert EvictionCounters(RunLimits()).allowances() == []
    (of_node,) = EvictionCounters(RunLimits(per_node=1)).allowances()
    assert of_node.key_of(make_pod("p", node="")) is None


PROGRESS = {
    "descheduler.alpha.kubernetes.io/request-evict-only": "",
    "descheduler.alpha.kubernetes.io/eviction-in-progress": "",
}
TAKEN_OVER = EvictionAnswer(429, "denied: Eviction triggered evacuation of VMI")


@pytest.mark.parametrize(
    ("facts", "answers", "total"),
    [
        pytest.param({}, {}, 1, id="a pod"),
        pytest.param({"phase": "Succeeded"}, {}, 1, id="a finished pod"),
        pytest.param({"annotations": PROGRESS, "phase": "Succeeded"}, {"default/p": TAKEN_OVER}, 0, id="nothing to do"),
        pytest.param({"annotations": PROGRESS}, {"default/p": TAKEN_OVER}, 1, id="in progress: from the start"),
    ],
)
def test_evictions_count_once_whoever_carries_them_out(
    facts: dict[str, Any], answers: dict[str, EvictionAnswer], total: int
) -> None:
    pod = make_pod("p", **facts)
    background = BackgroundEvictions(make_snapshot(pods=[pod]), answers, is_enabled=True)
    check = LimitCheck(RunLimits(), background)

    undo = check.charge(Bundle("p", "q", (Candidate(pod),)))
    charged = check.counters.total
    undo()

    assert charged == total
    assert check.counters.total == len(background.in_progress)


def test_limits_of_a_policy_are_of_the_pods_that_there_are() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod(f"p{number}") for number in range(20)])

    def limits(**top: Any) -> RunLimits:
        return limits_of(load_policy(pod_life_time_policy(**top), REGISTRY), snapshot)

    assert limits() == RunLimits()
    assert limits(maxNoOfPodsToEvictTotal=5) == RunLimits(total=5)
    assert limits(maxNoOfPodsToEvictPerNode=1, maxNoOfPodsToEvictPerNamespace="10%") == RunLimits(
        1, "10%", None, ClusterCounts(20, {"a": 20}, {"default": 20})
    )
