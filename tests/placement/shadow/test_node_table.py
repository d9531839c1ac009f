"""No sum of amounts leaves int64, however large they are, and what is given back leaves no trace."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_table import CPU_ROW, MEMORY_ROW, PODS_ROW, Demand, NodeTable
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
