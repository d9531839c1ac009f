"""What is left for best-effort pods of Koordinator (spec of koordinator 1.8, section 4.4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.model.koordinator.batch_resources import BatchResource, batch_resources
from descheduler.model.node import Node, NodeReservation
from descheduler.model.pod import Pod
from tests.builders import NOW, make_node, make_pod
from tests.worlds.node_metrics import make_node_metric

NANO = 10**9
QOS = "koordinator.sh/qosClass"
USAGE = {"cpu": "2"}


def node(*, allocatable: int = 10, reserved: int = 0, batch: int = 0) -> Node:
    """A node of 10 CPUs."""
    made = make_node("n", cpu=str(allocatable))
    amounts = {"cpu": allocatable * NANO, "kubernetes.io/batch-cpu": batch * NANO}
    reservation = NodeReservation({"cpu": reserved * NANO}, frozenset(), withholds_amounts=True) if reserved else None
    return msgspec.structs.replace(made, capacity={"cpu": 10 * NANO}, allocatable=amounts, reservation=reservation)


def prod(name: str = "prod", **facts: Any) -> Pod:
    return make_pod(name, node="n", **{"cpu": "3", "priority": 9500} | facts)


def cpu_of(
    pods: list[Pod], used: dict[str, dict[str, str]], *, system: str = "500m", age: float = 60, **facts: Any
) -> BatchResource:
    """The figures of cpu, in milli cores."""
    metric = make_node_metric("n", used, system={"cpu": system}, age=age)
    figures = batch_resources(node(**facts), pods, metric, NOW)[0]
    milli = {name: value // 10**6 for name, value in figures._asdict().items() if name != "resource"}
    return BatchResource(figures.resource, **milli)


def test_usage_and_the_system_leave_what_the_margin_does_not_take() -> None:
    cpu = cpu_of([prod()], {"default/prod": USAGE})

    assert cpu.margin == 4000
    assert (cpu.system_used, cpu.pods_used, cpu.pods_requested) == (500, 2000, 3000)
    assert cpu.allocatable == 10_000 - 4000 - 500 - 2000


@pytest.mark.parametrize(
    ("facts", "reserved"),
    [
        pytest.param({"allocatable": 9}, 1000, id="by the kubelet"),
        pytest.param({"reserved": 2}, 2000, id="by the annotation"),
        pytest.param({"allocatable": 9, "reserved": 2}, 2000, id="by both, the larger one counts"),
    ],
)
def test_the_system_uses_at_least_what_is_reserved(facts: dict[str, Any], reserved: int) -> None:
    cpu = cpu_of([], {}, **facts)

    assert (cpu.reserved, cpu.system_used) == (reserved, reserved)
    assert cpu.allocatable == 6000 - reserved


@pytest.mark.parametrize(
    ("pod", "used"),
    [
        pytest.param(prod(), 3000, id="a pod that was not measured counts its request"),
        pytest.param(prod(labels={QOS: "LSE"}), 3000, id="a pod that was not measured, of class LSE"),
        pytest.param(prod(priority=5500), 0, id="a batch pod counts nothing"),
        pytest.param(prod(priority=3500), 0, id="a free pod counts nothing"),
        pytest.param(prod(priority=7500), 3000, id="a mid pod counts"),
    ],
)
def test_pods_that_are_not_best_effort_count(pod: Pod, used: int) -> None:
    assert cpu_of([pod], {}).pods_used == used


def test_cpu_of_a_pod_of_class_lse_counts_by_its_request() -> None:
    assert cpu_of([prod(labels={QOS: "LSE"})], {"default/prod": USAGE}).pods_used == 3000


def test_measurements_of_pods_that_are_gone_still_count() -> None:
    assert cpu_of([], {"default/gone": USAGE}).pods_used == 2000


def test_nothing_is_left_while_the_measurement_is_old() -> None:
    assert cpu_of([], {}, age=timedelta(minutes=16).total_seconds()).allocatable == 0
    assert cpu_of([], {}, age=timedelta(minutes=14).total_seconds()).allocatable == 5500


def test_nothing_is_told_of_a_node_that_was_not_measured() -> None:
    assert batch_resources(node(), [], None, NOW) == ()


def test_best_effort_pods_may_use_what_all_others_leave_of_the_share() -> None:
    best_effort = make_pod("be", node="n", labels={QOS: "BE"})

    cpu = cpu_of([prod(), best_effort], {"default/prod": USAGE, "default/be": {"cpu": "1"}}, reserved=1)

    assert cpu.limit == 6500 - 2000 - 1000


def test_what_the_node_states_stands_beside() -> None:
    assert cpu_of([], {}, batch=1500).published == 1500 * 1000  # batch-cpu counts milli cores as units


def test_kubelet_gives_what_the_snapshot_took_off_for_the_annotation() -> None:
    """Of 10 CPUs the kubelet gives 9 to pods, and the annotation takes 2 of them."""
    trimmed = msgspec.structs.replace(node(allocatable=7, reserved=2), is_trimmed=True)
    metric = make_node_metric("n", {}, system={"cpu": "500m"})

    (cpu, _) = batch_resources(trimmed, [], metric, NOW)

    assert cpu.reserved == 2 * NANO


@pytest.mark.parametrize(
    ("age", "allocatable"),
    [
        pytest.param(15 * 60, 5500, id="not yet old"),
        pytest.param(15 * 60 + 1, 0, id="old"),
        pytest.param(None, 0, id="unknown"),
    ],
)
def test_measurement_is_old_after_a_quarter_of_an_hour(age: float | None, allocatable: int) -> None:
    metric = make_node_metric("n", {}, system={"cpu": "500m"}, age=age)

    assert batch_resources(node(), [], metric, NOW)[0].allocatable == allocatable * 10**6
    assert batch_resources(node(), [], metric, None)[0].allocatable == 5500 * 10**6


def test_pods_that_have_finished_use_nothing() -> None:
    assert cpu_of([prod(phase="Succeeded")], {}).pods_requested == 0


def test_memory_of_best_effort_pods_is_not_limited_and_of_class_lse_counts_as_measured() -> None:
    used = {"default/prod": {"cpu": "2", "memory": "1Gi"}}
    metric = make_node_metric("n", used, system={"cpu": "500m"})
    pod = prod(memory="3Gi", labels={QOS: "LSE"})

    (_, memory) = batch_resources(node(), [pod], metric, NOW)

    assert (memory.limit, memory.pods_used, memory.pods_requested) == (None, 2**30 * NANO, 3 * 2**30 * NANO)


def test_limit_of_best_effort_pods_is_at_least_0() -> None:
    assert cpu_of([prod()], {"default/prod": {"cpu": "7"}}).limit == 0
