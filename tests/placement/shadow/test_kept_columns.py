"""Columns that are kept say what they would say were they made anew."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from descheduler.placement.framework.scoring import KeptColumns
from descheduler.placement.shadow import node_table
from descheduler.placement.shadow.node_table import CPU_ROW, MEMORY_ROW, PODS_ROW, Demand, NodeTable, SomeNodes
from tests.builders import make_node

NODES = [make_node(f"node-{number}") for number in range(40)]
ONE_CPU = Demand(((CPU_ROW, 1000),), 1000, 0)

_moves = st.tuples(st.integers(0, len(NODES) - 1), st.sampled_from([1, -1]))


def _ask(columns: KeptColumns, table: NodeTable) -> NDArray[np.int64]:
    return columns.column("pods", lambda some: some.requested((PODS_ROW,))[0])


@pytest.mark.long
@given(st.lists(st.lists(_moves, max_size=30), max_size=8), st.sampled_from([2, 64]))
def test_column_that_is_asked_for_again_has_every_move_in_it(rounds: list[list[tuple[int, int]]], few: int) -> None:
    table = NodeTable(NODES)
    columns = KeptColumns(table)
    with mock.patch.object(node_table, "_FEW_CHANGES", few):
        for moves in rounds:
            for node, sign in moves:
                table.take(node, ONE_CPU, sign)

            assert _ask(columns, table).tolist() == table.requested[PODS_ROW].tolist()


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param((CPU_ROW, MEMORY_ROW), id="the first resources"),
        pytest.param((MEMORY_ROW, CPU_ROW), id="in another order"),
        pytest.param((PODS_ROW,), id="one that is not the first"),
    ],
)
def test_resources_of_some_nodes_come_in_the_order_asked_for(rows: tuple[int, ...]) -> None:
    table = NodeTable(NODES)
    table.take(7, ONE_CPU)
    some = SomeNodes(table, np.array([7, 8]))

    assert some.requested(rows).tolist() == [table.requested[row, [7, 8]].tolist() for row in rows]
    assert some.free(rows).tolist() == [(table.allocatable - table.requested)[row, [7, 8]].tolist() for row in rows]


def test_only_nodes_are_looked_at_again_where_pods_came_or_went() -> None:
    table = NodeTable(NODES)
    columns = KeptColumns(table)
    looked_at: list[list[int]] = []

    def note(some: SomeNodes) -> NDArray[np.intp]:
        looked_at.append(some.nodes.tolist())
        return some.nodes.copy()

    columns.column("nodes", note)
    table.take(7, ONE_CPU)
    columns.column("nodes", note)

    assert looked_at == [list(range(len(NODES))), [7]]


def test_pods_that_are_loaded_together_are_in_the_column() -> None:
    table = NodeTable(NODES)
    columns = KeptColumns(table)
    _ask(columns, table)

    table.take_all(ONE_CPU, np.array([3, 3, 5]))

    assert _ask(columns, table).tolist() == table.requested[PODS_ROW].tolist()
