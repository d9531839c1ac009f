"""Tries that put a pod on a node: where it goes, and on which conditions."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.framework.attempt import place
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.default_scheduler import default_scheduler


def tolerating(key: str, seconds: int | None, **more: Any) -> dict[str, Any]:
    """A toleration of the taint `key` of effect NoExecute."""
    time = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": key, "operator": "Exists", "effect": "NoExecute", **time, **more}


def conditions(taints: list[str], *tolerations: dict[str, Any]) -> tuple[str, ...]:
    """Those of a pod that goes to a node with these taints."""
    cluster = ShadowCluster(make_snapshot([make_node("a", taints=taints)]))
    attempt = place(default_scheduler(cluster).evaluate(make_pod("pod", node="", tolerations=tolerations)))
    assert attempt.placement is not None
    return attempt.placement.conditions


def again_after(seconds: int, key: str) -> tuple[str, ...]:
    """The condition of a node that evicts the pod again."""
    return (f"node a evicts the pod again after {seconds} s (tolerationSeconds for taint {key})",)


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        pytest.param([], [tolerating("x", 5)], (), id="no taint"),
        pytest.param(["x:NoExecute"], [tolerating("x", 5)], again_after(5, "x"), id="a time"),
        pytest.param(["x:NoExecute"], [tolerating("x", None)], (), id="for ever"),
        pytest.param(["x:NoExecute"], [tolerating("x", -5)], again_after(0, "x"), id="a time below 0 is none"),
        pytest.param(
            ["x:NoExecute"], [tolerating("x", None), tolerating("x", 5)], (), id="the first toleration counts"
        ),
        pytest.param(
            ["x:NoExecute", "y:NoExecute"],
            [tolerating("x", 9), tolerating("y", 5)],
            again_after(5, "y"),
            id="the shortest time of several taints",
        ),
        pytest.param(
            ["x:NoExecute", "y:NoExecute"],
            [tolerating("x", 5), tolerating("y", 9)],
            again_after(5, "x"),
            id="whichever taint that is of",
        ),
        pytest.param(
            ["x:NoSchedule"],
            [tolerating("x", 5, effect="NoSchedule")],
            (),
            id="a taint of another effect evicts nobody",
        ),
        pytest.param(
            ["y:NoExecute"],
            [tolerating("x", 3), tolerating("y", 7)],
            again_after(7, "y"),
            id="a toleration of another taint does not count",
        ),
    ],
)
def test_node_evicts_the_pod_again_after_the_time_that_it_tolerates_a_taint(
    taints: list[str], tolerations: list[dict[str, Any]], expected: tuple[str, ...]
) -> None:
    assert conditions(taints, *tolerations) == expected


def test_pod_that_fits_nowhere_is_not_placed() -> None:
    cluster = ShadowCluster(make_snapshot([make_node("a", cpu="1")]))

    attempt = place(default_scheduler(cluster).evaluate(make_pod("pod", node="", cpu="2")))

    assert attempt.placement is None


def test_pick_has_the_last_word_on_the_node() -> None:
    cluster = ShadowCluster(make_snapshot([make_node("a"), make_node("b"), make_node("c", cpu="1")]))
    evaluation = default_scheduler(cluster).evaluate(make_pod("pod", node="", cpu="100m"))

    attempt = place(evaluation, lambda evaluation, choice: 2)

    assert attempt.placement is not None
    assert (attempt.placement.node, attempt.placement.choice.ties) == (2, (0, 1))
