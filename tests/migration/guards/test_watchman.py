"""When a guard stops the run, how often the cluster is looked at, and what errors of the API server mean."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.guards import ApiErrors, Health, Watchman, make_watchman, read_health
from descheduler.migration.room.labels import JOB_LABEL
from descheduler.policy.load import load_policy
from descheduler.transport.errors import TransportError
from tests.builders import pod_object
from tests.living.builders import node
from tests.living.cluster import LivingCluster
from tests.migration.stand_ins import Clock
from tests.policy.builders import koordinator, upstream

START = Health(num_nodes=10, num_not_ready=0, num_unschedulable=5, num_pods=50)


class Cluster:
    """Is looked at in the background; each look finds the next of these, or has no answer yet (None)."""

    def __init__(self, guards: str, *found: Health | Exception | None) -> None:
        self._found = list(found)
        self.clock = Clock()
        self.looked_at: list[float] = []
        controller = f"pluginConfig: [{{name: MigrationController, args: {{guards: {{interval: 10s, {guards}}}}}}}]"
        policy = load_policy(koordinator(f"profiles:\n- name: p\n  {controller}\n"), REGISTRY)
        made = make_watchman(policy, cast(Any, None), self._submit, self.clock.now)
        assert made is not None
        self.watchman: Watchman = made

    def _submit(self, read: Callable[[], Health]) -> Future[Any]:
        self.looked_at.append(self.clock.now())
        future, found = Future[Any](), self._found.pop(0) if self._found else START
        if isinstance(found, Exception):
            future.set_exception(found)
        elif found is not None:
            future.set_result(found)
        return future

    def looks(self, number: int, every_seconds: float = 10.0) -> str:
        """What so many looks say at last."""
        for _ in range(number):
            self.watchman.look()
            self.clock.sleep(every_seconds)
        return self.watchman.look()


def after(**facts: int) -> Health:
    return Health(**{"num_nodes": 10, "num_not_ready": 0, "num_unschedulable": 5, "num_pods": 50, **facts})


@pytest.mark.parametrize(
    ("guards", "now", "is_stopped"),
    [
        pytest.param("maxPendingPodsIncrease: 3", after(num_unschedulable=8), False, id="as many pods as may be"),
        pytest.param("maxPendingPodsIncrease: 3", after(num_unschedulable=9), True, id="one pod more"),
        pytest.param("maxPendingPodsIncrease: 3", after(num_unschedulable=0), False, id="fewer pods"),
        pytest.param("maxPendingPodsIncrease: 10%", after(num_unschedulable=10), False, id="as large a share of pods"),
        pytest.param("maxPendingPodsIncrease: 10%", after(num_unschedulable=11), True, id="a larger share of pods"),
        pytest.param("maxNotReadyNodes: 2", after(num_not_ready=2), False, id="as many nodes as may be"),
        pytest.param("maxNotReadyNodes: 2", after(num_not_ready=3), True, id="one node more"),
        pytest.param("maxNotReadyNodes: 20%", after(num_not_ready=2), False, id="as large a share of nodes"),
        pytest.param("maxNotReadyNodes: 20%", after(num_not_ready=3), True, id="a larger share of nodes"),
        pytest.param("maxNotReadyNodes: 25%", after(num_not_ready=3), True, id="a share that is no whole number"),
    ],
)
def test_cluster_that_gets_worse_stops_the_run(guards: str, now: Health, *, is_stopped: bool) -> None:
    cluster = Cluster(guards, START, now)

    why = cluster.looks(3)

    assert bool(why) is is_stopped
    assert cluster.looks(3) == why  # it stays so, although the cluster is well again
    assert (guards in why) is is_stopped


def test_cluster_is_looked_at_at_intervals_and_one_look_at_a_time() -> None:
    at_intervals = Cluster("", START)
    at_intervals.looks(10, 2.5)
    waiting = Cluster("", None)
    waiting.looks(10)

    assert at_intervals.looked_at == [0.0, 10.0, 20.0]
    assert waiting.looked_at == [0.0]


def test_look_without_an_answer_says_nothing_and_is_repeated() -> None:
    worse = after(num_not_ready=9)
    cluster = Cluster("maxNotReadyNodes: 1", TransportError("lost"), worse)

    assert cluster.looks(1) == ""
    assert "9 of 10 nodes NotReady" in cluster.looks(2)


def test_policy_without_a_migration_controller_has_no_guards() -> None:
    policy = load_policy(upstream("profiles:\n- name: p\n"), REGISTRY)

    assert make_watchman(policy, cast(Any, None), lambda read: Future(), lambda: 0.0) is None


@pytest.mark.parametrize(
    ("codes", "is_stopped"),
    [
        pytest.param([500] * 19, False, id="too few calls"),
        pytest.param([500] * 20, True, id="twenty errors"),
        pytest.param([200] * 10 + [500] * 10, False, id="as large a share as may be"),
        pytest.param([200] * 10 + [500] * 11, True, id="a larger share"),
        pytest.param([500] * 26 + [200] * 25, False, id="the first of fifty-one is forgotten"),
        pytest.param([200] * 24 + [500] * 26, True, id="all of fifty count"),
        pytest.param([499] * 30, False, id="refusals are no errors"),
        pytest.param([429] * 30, False, id="budgets are no errors"),
        pytest.param([0] * 30, True, id="answers that were lost are"),
    ],
)
def test_api_server_that_fails_stops_the_run(codes: list[int], *, is_stopped: bool) -> None:
    errors = ApiErrors(50)
    for code in codes:
        errors.note(code)

    assert bool(errors.why()) is is_stopped


def test_errors_are_counted_and_named_with_their_limit() -> None:
    errors = ApiErrors(10)
    for code in [200] * 17 + [500, 0, 503]:
        errors.note(code)

    assert errors.why() == "3 errors in the last 20 API calls (guards.maxAPIErrorRate: 10%)"


def test_errors_of_the_api_server_are_judged_at_each_look() -> None:
    cluster = Cluster("maxAPIErrorRate: 10%", START)
    for _ in range(20):
        cluster.watchman.errors.note(500)

    assert "20 errors in the last 20 API calls" in cluster.watchman.look()


def unready(name: str, **facts: Any) -> dict[str, Any]:
    made = node(name, **facts)
    return made | {"status": {**made["status"], "conditions": [{"type": "Ready", "status": "False"}]}}


def unplaced(name: str, reason: str = "Unschedulable", **labels: str) -> dict[str, Any]:
    """A pod of which the scheduler says this."""
    made = pod_object(name, node="", phase="Pending", labels=labels)
    made["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": reason}]
    return made


@pytest.mark.parametrize(("counts_pods", "num_pods"), [(True, 5), (False, 0)])
def test_health_counts_nodes_that_are_not_ready_and_pods_without_a_node(num_pods: int, *, counts_pods: bool) -> None:
    nodes = [node("n1"), node("n2", unschedulable=True), unready("n3"), unready("n4", unschedulable=True)]
    holding, claiming = unplaced("placeholder-u", **{JOB_LABEL: "u"}), unplaced("web", **{JOB_LABEL: "u"})
    pods = [holding, claiming, unplaced("stuck"), unplaced("gated", "SchedulingGated"), pod_object("runs", node="n1")]
    cluster = LivingCluster([*nodes, *pods], acts=False)

    health = read_health(ObjectCalls(cluster.client()), counts_pods=counts_pods)

    assert health == Health(num_nodes=4, num_not_ready=2, num_unschedulable=2, num_pods=num_pods)
