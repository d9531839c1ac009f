"""What static plugins say of placement classes, kept in one column for all of which the same is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.static_answers import KeptAnswers
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot


class Refusing:
    """Has against the nodes what it is told to have, by the name of the pod."""

    name = "Refusing"
    is_static = True

    def __init__(self, against: Mapping[str, Sequence[int]]) -> None:
        self._against = against

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Says nothing."""
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """A new column each time."""
        return np.array(self._against[cycle.pod.pod.name], dtype=np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Never asked."""
        raise NotImplementedError


def columns(**against: Sequence[int]) -> list[ReasonBits]:
    """What is kept for pods of these names, each of a class of its own."""
    cluster = ShadowCluster(make_snapshot([make_node("a"), make_node("b")], []))
    answers = KeptAnswers({"Refusing": Refusing(against)}, only_before=frozenset(), num_nodes=2)
    found = list[ReasonBits]()
    for name in against:
        pod = make_pod(name, node="", node_selector={"of": name})
        (asked,) = answers.of(Cycle(cluster.placement_class(pod), cluster)).asked
        assert asked.against is not None
        found.append(asked.against)
    return found


def test_classes_of_which_the_same_is_said_share_one_column() -> None:
    first, second = columns(first=[1, 2], second=[1, 2])

    assert first is second


def test_classes_refused_on_the_same_nodes_for_other_reasons_keep_their_own_columns() -> None:
    """The columns differ in every cell, but refuse as many nodes and are largest and least at the same ones."""
    first, second = columns(first=[1, 2], second=[4, 8])

    assert (first.tolist(), second.tolist()) == ([1, 2], [4, 8])
