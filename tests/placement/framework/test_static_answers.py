"""What static plugins say of placement classes, kept in one column for all of which the same is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle
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


class Early(Refusing):
    """Says so much before it filters, and notes whether it is asked to."""

    def __init__(self, result: PreFilterResult) -> None:
        super().__init__({"pod": [1, 0]})
        self.result, self.num_filtered = result, 0

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """What it was given."""
        return self.result

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Refuses the first node."""
        self.num_filtered += 1
        return super().filter(cycle)


NO = Obstacle("Refusing", Code.UNSCHEDULABLE, ("no",))
LAST = np.array([False, True])


@pytest.mark.parametrize(
    ("result", "only_before", "num_asked", "num_filtered"),
    [
        pytest.param(PASS, False, 1, 1, id="it passes on"),
        pytest.param(PASS, True, 0, 0, id="it passes on, and is no filter"),
        pytest.param(PreFilterResult(is_skipped=True), False, 0, 0, id="it has no say"),
        pytest.param(PreFilterResult(NO), False, 1, 0, id="it refuses the pod"),
        pytest.param(PreFilterResult(nodes=LAST), False, 1, 1, id="it names nodes"),
        pytest.param(PreFilterResult(nodes=LAST), True, 1, 0, id="it names nodes, and is no filter"),
    ],
)
def test_plugin_filters_where_it_has_a_say_after_its_pre_filter(
    result: PreFilterResult, only_before: bool, num_asked: int, num_filtered: int
) -> None:
    cluster = ShadowCluster(make_snapshot([make_node("a"), make_node("b")], []))
    plugin = Early(result)
    before = frozenset({"Refusing"} if only_before else ())
    answers = KeptAnswers({"Refusing": plugin}, only_before=before, num_nodes=2)
    cycle = Cycle(cluster.placement_class(make_pod("pod", node="")), cluster)

    found = answers.of(cycle)

    assert (len(found.asked), plugin.num_filtered) == (num_asked, num_filtered)
    assert found.is_open.tolist() == [not num_filtered, True]
    answers.drop(cycle.pod, found.asked)
    assert answers.of(cycle).asked == ()
    assert plugin.num_filtered == num_filtered


class Moving(Refusing):
    """Is asked again each time."""

    name = "Moving"
    is_static = False


def test_plugin_without_a_say_is_left_out_and_the_others_are_asked_on() -> None:
    cluster = ShadowCluster(make_snapshot([make_node("a"), make_node("b")], []))
    plugins = {"Moving": Moving({}), "Refusing": Refusing({"pod": [0, 1]})}
    answers = KeptAnswers(plugins, only_before=frozenset(), num_nodes=2)
    cycle = Cycle(cluster.placement_class(make_pod("pod", node="")), cluster)
    moving, refusing = answers.of(cycle).asked

    answers.drop(cycle.pod, [moving])

    assert (moving.name, moving.result, answers.of(cycle).asked) == ("Moving", None, (refusing,))
