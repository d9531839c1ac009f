"""Plugins of others behind their guards: what they may say, and what counts once they have failed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.framework.foreign.answers import Trouble
from descheduler.placement.framework.foreign.plugin import guarded_plugin
from descheduler.placement.framework.obstacle import Code
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.plugin_faults import Origin, PluginFault, collected_faults
from tests.builders import make_node, make_pod, make_snapshot

FEASIBLE = np.array([True, True, False])


def cycle() -> Cycle:
    """Of a pod over three nodes."""
    cluster = ShadowCluster(make_snapshot([make_node(name) for name in "abc"]))
    return Cycle(cluster.placement_class(make_pod("pod", node="")), cluster)


def trouble() -> Trouble:
    return Trouble(Origin("Mine"))


class _Unsure:
    """A plugin that scores and does not know the scores of some nodes."""

    name = "Unsure"

    def __init__(self, mask: object) -> None:
        self.mask = mask

    def score(self, cycle: Cycle, feasible: Any) -> None:
        """Nothing."""

    def unknown(self, cycle: Cycle) -> Any:
        return self.mask


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        pytest.param(None, None, id="it knows all"),
        pytest.param(FEASIBLE, [True, True, False], id="it does not know some"),
        pytest.param([True], [True, True, True], id="nothing is known once it has failed"),
    ],
)
def test_nodes_whose_scores_a_plugin_does_not_know(mask: Any, expected: list[bool] | None) -> None:
    with collected_faults():
        found = cast(Any, guarded_plugin(_Unsure(mask), trouble())).unknown(cycle())

    assert (None if found is None else found.tolist()) == expected


def test_changes_that_a_plugin_counts_are_none_once_it_has_failed() -> None:
    class Counting:
        num_changes: object = 3

    plugin, failing = Counting(), trouble()
    with collected_faults() as faults:
        found: Any = guarded_plugin(plugin, failing)
        assert found.num_changes == 3

        plugin.num_changes = "many"
        assert found.num_changes == 0
        plugin.num_changes = 4
        assert found.num_changes == 0

    assert len(faults) == 1
    assert found.undecided is not None
    assert found.undecided.code is Code.UNDECIDED


class _Reserving:
    """A plugin that has a say in Reservations."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def filter_reservation(self, *asked: object) -> object:
        return self.answer

    def score_reservations(self, *asked: object) -> object:
        return self.answer


def test_plugin_scores_as_many_reservations_as_it_is_asked_about() -> None:
    with collected_faults():
        good: Any = guarded_plugin(_Reserving([5, 6]), trouble())
        short: Any = guarded_plugin(_Reserving([5]), trouble())

        assert good.score_reservations(cycle(), 0, ["r1", "r2"]) == [5, 6]
        with pytest.raises(PluginFault, match=r"score_reservations\(\) gives 1 scores for 2 Reservations"):
            short.score_reservations(cycle(), 0, ["r1", "r2"])
        assert short.score_reservations(cycle(), 0, ["r1", "r2"]) == [0, 0]


@pytest.mark.parametrize("answer", [True, False, 1, 0])
def test_plugin_lets_a_reservation_pass_or_not(answer: int) -> None:
    found: Any = guarded_plugin(_Reserving(answer), trouble())

    assert found.filter_reservation(cycle(), 0, "r1") is bool(answer)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param([5, 6, 7], [5, 6, 7], id="one for each node"),
        pytest.param([5, 6], [1, 2, 3], id="too few: those that count"),
    ],
)
def test_raw_scores_are_shown_where_there_is_one_for_each_node(raw: list[int], shown: list[int]) -> None:
    class Raw:
        def score(self, *asked: object) -> Scores:
            return Scores(np.array([1, 2, 3]), lambda: np.array(raw))

    with collected_faults():
        found: Any = guarded_plugin(Raw(), trouble())
        scores = found.score(cycle(), np.ones(3, dtype=bool))
        assert scores.raw is not None

        assert scores.raw().tolist() == shown
