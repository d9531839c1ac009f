"""How strategies go on after the answers to their requests, and what those of Koordinator share."""

from __future__ import annotations

from typing import cast

import pytest

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.model.verdict import (
    ACCEPTED,
    EvictionLimit,
    LimitReached,
    Reason,
    Verdict,
    limit_reached,
    refuse,
)
from descheduler.strategies.shared.koordinator import container_request, not_selected
from descheduler.strategies.shared.selection import evict_from_node
from tests.builders import make_pod

PODS = [make_pod(name) for name in "abc"]
REFUSED = refuse(Reason.DISRUPTION_BUDGET, "the budget allows none")


def reached(limit: EvictionLimit) -> Verdict:
    return limit_reached(LimitReached.of(limit, 1))


class Answers:
    """Answers the second request with `verdict`, and grants all others."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self.asked: list[tuple[str, str]] = []

    def request(self, pod: Pod, reason: str) -> Verdict:
        """The answer to one request."""
        self.asked.append((pod.name, reason))
        return self._verdict if len(self.asked) == 2 else ACCEPTED


@pytest.mark.parametrize(
    ("verdict", "num_asked", "goes_on"),
    [
        pytest.param(ACCEPTED, 3, True, id="all are granted"),
        pytest.param(REFUSED, 3, True, id="any other refusal concerns its pod alone"),
        pytest.param(reached(EvictionLimit.NAMESPACE), 3, True, id="so does the limit of its namespace"),
        pytest.param(reached(EvictionLimit.NODE), 2, True, id="the limit of the node ends the node"),
        pytest.param(reached(EvictionLimit.TOTAL), 2, False, id="the limit of the run ends the strategy"),
    ],
)
def test_strategy_goes_on_after_an_answer(verdict: Verdict, num_asked: int, goes_on: bool) -> None:
    answers = Answers(verdict)

    found = evict_from_node(cast(PluginEvictor, answers), PODS, lambda pod: f"{pod.name} is old")

    assert found is goes_on
    assert answers.asked == [("a", "a is old"), ("b", "b is old"), ("c", "c is old")][:num_asked]


def test_requests_of_containers_add_up_without_those_of_init_containers() -> None:
    containers = [{"name": f"c{cpu}", "resources": {"requests": {"cpu": str(cpu)}}} for cpu in (1, 2)]
    init = [{"name": "init", "resources": {"requests": {"cpu": "9"}}}]
    pod = make_pod("p", spec={"containers": containers, "initContainers": init})

    assert (container_request(pod, "cpu"), container_request(pod, "memory")) == (3 * 10**9, 0)


def test_node_that_is_not_looked_at_is_named() -> None:
    assert not_selected(make_pod("p", node="b")) == "node b does not match nodeSelector"
