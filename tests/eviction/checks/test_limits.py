"""Limits of one run."""

from __future__ import annotations

import pytest

from descheduler.eviction.checks.limits import EvictionCounters, EvictionLimits
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from tests.builders import make_pod


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param(EvictionLimits(), None, id="nothing is limited by default"),
        pytest.param(EvictionLimits(total=0), Reason.TOTAL_LIMIT, id="0 forbids all"),
        pytest.param(EvictionLimits(per_node=0), Reason.NODE_LIMIT, id="on every node"),
        pytest.param(EvictionLimits(per_namespace=0), Reason.NAMESPACE_LIMIT, id="in every namespace"),
        pytest.param(EvictionLimits(0, 0, 0), Reason.TOTAL_LIMIT, id="the total is asked first"),
        pytest.param(EvictionLimits(0, 0, 1), Reason.NODE_LIMIT, id="then the node"),
    ],
)
def test_first_limit_in_order_refuses(limits: EvictionLimits, expected: Reason | None) -> None:
    assert EvictionCounters(limits).verdict(make_pod("p")).reason is expected


@pytest.mark.parametrize(
    ("limits", "other", "expected"),
    [
        pytest.param(EvictionLimits(per_node=1), make_pod("q", node="a"), Reason.NODE_LIMIT, id="same node"),
        pytest.param(EvictionLimits(per_node=1), make_pod("q", node="b"), None, id="another node"),
        pytest.param(
            EvictionLimits(per_namespace=1), make_pod("q", node="b"), Reason.NAMESPACE_LIMIT, id="same namespace"
        ),
        pytest.param(EvictionLimits(per_namespace=1), make_pod("q", namespace="z"), None, id="another namespace"),
        pytest.param(
            EvictionLimits(total=1), make_pod("q", node="b", namespace="z"), Reason.TOTAL_LIMIT, id="the total"
        ),
        pytest.param(EvictionLimits(total=2), make_pod("q"), None, id="a limit that is not reached"),
    ],
)
def test_counted_evictions_use_limits_up(limits: EvictionLimits, other: Pod, expected: Reason | None) -> None:
    counters = EvictionCounters(limits)
    counters.count(make_pod("p", node="a"))

    assert counters.verdict(other).reason is expected


def test_unbound_pod_has_no_node_limit() -> None:
    assert EvictionCounters(EvictionLimits(per_node=0)).verdict(make_pod("p", node="")).is_accepted
