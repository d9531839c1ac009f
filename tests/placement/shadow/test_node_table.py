"""What nodes have and pods take: no sum leaves int64, what is given back leaves no trace, and changes are numbered."""

from __future__ import annotations

import warnings

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.requests import ResizedRequests
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_table import (
    CPU_ROW,
    MEMORY_ROW,
    PODS_ROW,
    Demand,
    NodeTable,
    PodDemands,
    is_counted,
)
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.workloads import pod_named

HUGE = 2**61
amounts = st.one_of(st.integers(-HUGE, HUGE), st.sampled_from([HUGE, -HUGE, 2**40, 2**40 + 1, 1000]))
taken = st.lists(st.tuples(amounts, amounts, st.integers(0, 1)), min_size=1, max_size=30)


def demand(table: NodeTable, cpu: int, memory: int) -> Demand:
    requests = {"cpu": cpu * 10**6, "memory": memory * 10**9}
    return table.demand(requests, requests)


def shown(total: int) -> int:
    return max(-(2**62), min(2**62, total))


@pytest.mark.long
@given(taken, st.randoms())
def test_columns_show_sums_or_the_most_that_there_is_and_forget_in_any_order(
    pods: list[tuple[int, int, int]], draw: object
) -> None:
    table = NodeTable([make_node("a"), make_node("b")])
    totals = [[0, 0], [0, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cpu, memory, node in pods:
            table.take(node, demand(table, cpu, memory))
            totals[node][0] += cpu
            totals[node][1] += memory
            assert table.requested[[CPU_ROW, MEMORY_ROW], node].tolist() == [shown(each) for each in totals[node]]
            assert table.scoring[:, node].tolist() == [shown(each) for each in totals[node]]
        draw.shuffle(pods)  # type: ignore[attr-defined]
        for cpu, memory, node in pods:
            table.take(node, demand(table, cpu, memory), -1)
    assert not table.requested.any()
    assert not table.scoring.any()


@pytest.mark.long
@given(taken)
def test_pods_that_are_there_at_first_count_as_those_that_come_one_by_one(pods: list[tuple[int, int, int]]) -> None:
    at_once, one_by_one = NodeTable([make_node("a"), make_node("b")]), NodeTable([make_node("a"), make_node("b")])
    for cpu, memory, node in pods:
        at_once.take_all(demand(at_once, cpu, memory), np.array([node, node], dtype=np.intp))
        one_by_one.take(node, demand(one_by_one, cpu, memory))
        one_by_one.take(node, demand(one_by_one, cpu, memory))
    assert (at_once.requested == one_by_one.requested).all()
    assert (at_once.scoring == one_by_one.scoring).all()
    assert at_once.requested[PODS_ROW].sum() == 2 * len(pods)


def test_node_that_is_full_beyond_measure_takes_nothing_more() -> None:
    most = str(2**63 - 1)
    pods = [make_pod(f"p{index}", node="a", requests={"example.com/thing": most}) for index in range(3)]
    victim = make_pod("victim", node="b", requests={"example.com/thing": "1"}, owners=["ReplicaSet/victim"])
    nodes = [make_node("a", allocatable={"example.com/thing": most}), make_node("b", unschedulable=True)]
    snapshot = make_snapshot(nodes, [*pods, victim])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        landing = LandingProver(snapshot).consider(pod_named(snapshot, "victim"))

    assert landing.verdict is LandingVerdict.NO
    assert landing.obstacles["Insufficient example.com/thing"] == 2


@pytest.mark.parametrize(
    ("name", "is_a_resource"),
    [
        *((name, True) for name in ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "attachable-volumes-ebs")),
        *((name, True) for name in ("nvidia.com/gpu", "kubernetes.io/batch-cpu")),
        *((name, False) for name in ("pods", "gpu", "requests.nvidia.com/gpu", "requests.cpu", "limits.cpu")),
    ],
)
def test_scheduler_counts_native_and_extended_resources_and_no_names_of_quotas(name: str, is_a_resource: bool) -> None:
    assert is_counted(name) is is_a_resource


@pytest.mark.parametrize(("memory", "are_exact"), [(2**46, True), (2**46 + 1, False), (0, True)])
def test_shares_are_exact_as_far_as_floating_point_numbers_hold_a_hundred_times_the_amounts(
    memory: int, are_exact: bool
) -> None:
    of_nodes = NodeTable([make_node("a", memory=str(memory), cpu="1")])
    of_pods = NodeTable([make_node("a")])
    demand(of_pods, 1000, memory)

    assert (of_nodes.has_exact_shares, of_pods.has_exact_shares) == (are_exact, are_exact)


def test_shares_of_amounts_below_zero_are_not_exact() -> None:
    table = NodeTable([make_node("a")])

    for milli in (-1, 1):
        demand(table, milli, 0)

    assert not table.has_exact_shares


NODES = [make_node(f"n{number}") for number in range(8)]


def changed(table: NodeTable, since: int) -> list[int] | None:
    found = table.changed_since(since)
    return None if found is None else found.nodes.tolist()


def test_nodes_where_pods_came_or_went_are_told_up_to_a_quarter_of_all() -> None:
    table = NodeTable(NODES)
    for node in (5, 3, 3, 7):
        table.take(node, demand(table, 1, 0))

    assert table.num_changes == 4
    assert [changed(table, since) for since in (4, 3, 2, 1, 0)] == [[], [7], [3, 7], None, None]


def test_changes_are_numbered_on_however_many_of_them_are_forgotten() -> None:
    table = NodeTable(NODES)
    for number in range(30):
        table.take(number % 8, demand(table, 1, 0))

        assert table.num_changes == number + 1
        assert changed(table, number) == [number % 8]
        assert changed(table, number - 2) is None

    table.take_all(demand(table, 1, 0), np.array([1], dtype=np.intp))

    assert table.num_changes > 30
    assert changed(table, 30) is None
    assert changed(table, table.num_changes) == []


def cpu_of(demand: Demand) -> int:
    return dict(demand.amounts)[CPU_ROW]


@pytest.mark.parametrize(
    ("sums_resized", "summed", "cpu_milli"),
    [(False, 3000, 2000), (True, 3000, 3000), (True, None, 2000), (False, None, 2000)],
)
def test_pod_that_is_resized_takes_what_its_status_says(sums_resized: bool, summed: int | None, cpu_milli: int) -> None:
    """By the sums over its containers, where the version of Kubernetes counts these and they say otherwise."""

    def resized(milli: int, summed: ResizedRequests | None = None) -> ResizedRequests:
        return ResizedRequests({"cpu": milli * 10**6}, {"cpu": milli * 10**6}, summed)

    of_sums = None if summed is None else resized(summed)
    pod = msgspec.structs.replace(make_pod("pod", cpu="1"), resized=resized(2000, of_sums))
    demands = PodDemands(NodeTable(NODES), sums_resized=sums_resized)

    assert (cpu_of(demands.placed(pod)), cpu_of(demands.incoming(pod.spec))) == (cpu_milli, 1000)
