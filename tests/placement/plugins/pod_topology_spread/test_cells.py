"""Cells are what no topology tells apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.node import Node
from descheduler.placement.plugins.pod_topology_spread.score import Cells
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.topology import Topology
from tests.builders import make_node

_labels = st.dictionaries(st.sampled_from(["zone", "rack"]), st.sampled_from(["", "a", "b"]))


@st.composite
def _nodes(draw: st.DrawFn) -> list[Node]:
    return [make_node(f"node-{number}", labels=draw(_labels)) for number in range(draw(st.integers(0, 8)))]


@given(_nodes())
def test_nodes_share_a_cell_when_they_share_every_domain(nodes: list[Node]) -> None:
    topology = Topology(NodeTable(nodes))
    cells = Cells([(key, topology.domains(key)) for key in ("zone", "rack", "absent")], len(nodes))

    for one, first in enumerate(nodes):
        for other, second in enumerate(nodes):
            is_shared = all(first.labels.get(key) == second.labels.get(key) for key in ("zone", "rack"))
            assert (cells.ids[one] == cells.ids[other]) is np.bool_(is_shared)


@pytest.mark.long
@given(_nodes(), st.data())
def test_cells_have_the_nodes_that_are_in_them(nodes: list[Node], data: st.DataObject) -> None:
    topology = Topology(NodeTable(nodes))
    cells = Cells([("zone", topology.domains("zone"))], len(nodes))
    for _ in range(3):  # where it looks first hangs on what it was asked before
        wanted = np.array([data.draw(st.booleans()) for _ in nodes], dtype=bool)

        having = [bool(wanted[cells.ids == cell].any()) for cell in range(cells.num)]
        found, is_all = cells.having(wanted)
        assert (found.tolist(), is_all) == (having, all(having))


def test_hosts_are_told_apart_by_having_the_key_alone() -> None:
    nodes = [make_node("a"), make_node("b")]
    topology = Topology(NodeTable(nodes))

    cells = Cells([("kubernetes.io/hostname", topology.domains("kubernetes.io/hostname"))], len(nodes))

    assert cells.num == 1
