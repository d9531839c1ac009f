"""Limits of one run."""

from __future__ import annotations

import pytest

from descheduler.eviction.checks.limits import EvictionCounters, RunLimits
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit
from tests.builders import make_pod


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
