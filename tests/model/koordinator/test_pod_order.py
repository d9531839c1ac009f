"""Koordinator's order of pods (its "pod sorter"): the first one goes first."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.koordinator.classes import importance
from descheduler.model.pod import Pod
from tests.builders import make_pod

CLASS, QOS = "koordinator.sh/priority-class", "koordinator.sh/qosClass"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
EVICTION_COST = "scheduling.koordinator.sh/eviction-cost"


def pod(name: str, *, label: dict[str, str] | None = None, cost: dict[str, str] | None = None, **facts: Any) -> Pod:
    """A Burstable pod, of class prod therefore, unless said otherwise."""
    return make_pod(name, **{"cpu": "1", "labels": label, "annotations": cost, **facts})


@pytest.mark.parametrize(
    ("pods", "order"),
    [
        pytest.param(
            [
                pod("prod", priority=9000),
                pod("mid", priority=7999),
                pod("batch", priority=5500),
                pod("free", priority=3000),
            ],
            ["free", "batch", "mid", "prod"],
            id="priority class by the band of the priority",
        ),
        pytest.param(
            [pod("prod", priority=3500, label={CLASS: "koord-prod"}), pod("free", priority=3600)],
            ["free", "prod"],
            id="the label of the class before the band",
        ),
        pytest.param(
            [pod("unknown", priority=3500, label={CLASS: "gold"}), pod("batch", priority=5500)],
            ["batch", "unknown"],
            id="an unknown class is that of the QoS, here prod",
        ),
        pytest.param(
            [pod("burstable"), pod("best-effort", cpu=None, priority=100)],
            ["best-effort", "burstable"],
            id="a plain BestEffort pod is batch",
        ),
        pytest.param([pod("high", priority=9600), pod("low", priority=9500)], ["low", "high"], id="priority"),
        pytest.param([pod("none"), pod("negative", priority=-5)], ["negative", "none"], id="no priority counts as 0"),
        pytest.param(
            [pod("lsr", label={QOS: "LSR"}), pod("ls", label={QOS: "LS"}), pod("lse", label={QOS: "LSE"})],
            ["ls", "lsr", "lse"],
            id="Koordinator's QoS",
        ),
        pytest.param(
            [pod("dear", cost={DELETION_COST: "5"}), pod("cheap", cost={DELETION_COST: "-5"})],
            ["cheap", "dear"],
            id="deletion cost",
        ),
        pytest.param(
            [pod("dear", cost={EVICTION_COST: "5"}), pod("cheap", cost={DELETION_COST: "0", EVICTION_COST: "4"})],
            ["cheap", "dear"],
            id="eviction cost",
        ),
        pytest.param(
            [pod("plus", cost={EVICTION_COST: "+5"}), pod("one", cost={EVICTION_COST: "1"})],
            ["plus", "one"],
            id="a cost that Kubernetes does not read counts as 0",
        ),
        pytest.param(
            [pod("older", age=900), pod("newer", age=60), pod("unset", age=None)],
            ["newer", "older", "unset"],
            id="newer first",
        ),
    ],
)
def test_pods_go_in_order_of(pods: list[Pod], order: list[str]) -> None:
    assert [each.name for each in sorted(pods, key=importance)] == order


def test_rank_of_the_plugin_decides_before_the_age() -> None:
    pods = [pod("newer", age=60), pod("older", age=900), pod("dear", age=900, cost={EVICTION_COST: "1"})]
    ranks = {"newer": 1, "older": 0, "dear": -1}

    ordered = sorted(pods, key=lambda each: importance(each, lambda of: ranks[of.name]))

    assert [each.name for each in ordered] == ["older", "newer", "dear"]
