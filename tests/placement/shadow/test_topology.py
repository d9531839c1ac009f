"""Topology keys as columns over nodes and over domains."""

from __future__ import annotations

import numpy as np

from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.topology import Topology
from tests.builders import make_node

NODES = [
    make_node("a", labels={"zone": "east", "rack": "1", "blank": ""}),
    make_node("b", labels={"zone": "west", "rack": "2"}),
    make_node("c", labels={"zone": "east", "blank": "x"}),
]


def test_node_without_the_key_is_in_no_domain() -> None:
    topology = Topology(NodeTable(NODES))
    zones, racks = topology.domains("zone"), topology.domains("rack")

    assert (zones.num, zones.ids.tolist(), zones.is_everywhere) == (2, [0, 1, 0], True)
    assert (racks.num, racks.ids.tolist(), racks.is_everywhere) == (2, [0, 1, 2], False)
    assert racks.has_key.tolist() == [True, True, False]


def test_marks_are_spread_over_the_domains_of_the_marked_nodes() -> None:
    topology = Topology(NodeTable(NODES))

    def sharing(key: str, *nodes: int) -> list[bool]:
        domains = topology.domains(key)
        marks = domains.marks()
        domains.mark(marks, np.array(nodes, dtype=np.intp))
        return [bool(each) for each in domains.spread(marks)]

    assert sharing("zone", 0) == [True, False, True]
    assert sharing("rack", 0, 0, 2) == [True, False, False]
    assert sharing("gone", 0, 1) == [False, False, False]


def test_node_without_the_key_is_in_the_domain_of_the_empty_value_where_some_node_has_that() -> None:
    topology = Topology(NodeTable(NODES))

    assert topology.domains("blank").ids_with_blank.tolist() == [0, 0, 1]
    assert topology.domains("rack").ids_with_blank.tolist() == [0, 1, 2]


def test_keys_that_no_node_has_share_their_domains_and_others_have_their_own() -> None:
    topology = Topology(NodeTable(NODES))

    unknown, other, zones = (topology.domains(key) for key in ("unknown", "other", "zone"))

    assert unknown is other
    assert (unknown.num, zones.num) == (0, 2)
    assert topology.domains("rack") is not zones
    assert topology.domains("zone") is zones
