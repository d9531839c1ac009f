"""The node with the highest total is chosen, and its lead over the next one is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerProfile
from descheduler.placement.framework.evaluation import Choice
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.framework.scoring import Scoring
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

PROFILE = DEFAULT_CONFIGURATION.profiles[0]


class Fixed:
    """Gives each node the score that it is told; those of the nodes in `unknown` may be anything."""

    name = "Fixed"
    is_static = False

    def __init__(self, given: Sequence[int], unknown: Sequence[int]) -> None:
        self._given = np.array(given)
        self._unknown = np.isin(np.arange(len(given)), unknown)

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """What each node is given."""
        del cycle, feasible
        return Scores(self._given)

    def unknown(self, cycle: Cycle) -> BoolMask | None:
        """Those nodes."""
        del cycle
        return self._unknown


def chosen(
    given: Sequence[int],
    *,
    weight: int = 1,
    unknown: Sequence[int] = (),
    cordoned: Sequence[int] = (),
    num_nodes_to_find: int = 100,
) -> Choice | None:
    """The choice among nodes that are given these scores, out of which a pod has no way onto the `cordoned`."""

    def make(cluster: ShadowCluster, profile: SchedulerProfile) -> Fixed:
        del cluster, profile
        return Fixed(given, unknown)

    nodes = [make_node(f"n{index}", unschedulable=index in cordoned) for index in range(len(given))]
    cluster = ShadowCluster(make_snapshot(nodes, []))
    profile = replace(PROFILE, scores=(("Fixed", weight),))
    plugins = {**PLUGINS, "Fixed": SchedulingPlugin(plugin=make, score=make, points=frozenset({"score"}))}
    evaluation = Scheduler(cluster, profile, plugins=plugins).evaluate(make_pod("pod", node=""))
    return Scoring(cluster, profile, plugins, num_nodes_to_find).choose(evaluation)


@pytest.mark.parametrize(
    ("given", "facts", "expected"),
    [
        pytest.param([10, 70, 40], {}, Choice(1, 70, (1,), 30, is_sampled=False), id="the lead over the second best"),
        pytest.param([10, 70, 40], {"weight": 3}, Choice(1, 210, (1,), 90, is_sampled=False), id="with a weight"),
        pytest.param([70, 10, 70], {}, Choice(0, 70, (0, 2), 60, is_sampled=False), id="of two that are equal"),
        pytest.param([70, 70], {}, Choice(0, 70, (0, 1), None, is_sampled=False), id="no lead where all are equal"),
        pytest.param(
            [10, 70, 90], {"cordoned": [2]}, Choice(1, 70, (1,), 60, is_sampled=False), id="over feasible nodes alone"
        ),
        pytest.param(
            [5, 7], {"cordoned": [1]}, Choice(0, 0, (0,), None, is_sampled=False), id="one node is not scored"
        ),
        pytest.param([5, 7], {"cordoned": [0, 1]}, None, id="no node passes"),
        pytest.param(
            [10, 70, 40], {"num_nodes_to_find": 3}, Choice(1, 70, (1,), 30, is_sampled=False), id="all nodes are found"
        ),
        pytest.param(
            [10, 70, 40], {"num_nodes_to_find": 2}, Choice(1, 70, (1,), 30, is_sampled=True), id="not all are looked at"
        ),
    ],
)
def test_highest_total_is_chosen_with_its_lead(
    given: list[int], facts: dict[str, int], expected: Choice | None
) -> None:
    assert chosen(given, **facts) == expected  # type: ignore[arg-type] # each fact has its own type


@pytest.mark.parametrize(
    ("given", "unknown", "expected"),
    [
        pytest.param(
            [10, 70, 40],
            [0],
            Choice(1, 70, (1, 0), 30, is_sampled=False, is_open=True),
            id="a score that may be the best is open, and comes last",
        ),
        pytest.param(
            [90, 70, 40],
            [0],
            Choice(1, 70, (1, 0), 30, is_sampled=False, is_open=True),
            id="however much it was given",
        ),
        pytest.param([10, 70], [0, 1], Choice(1, 70, (1, 0), None, is_sampled=False, is_open=True), id="all are open"),
        pytest.param(
            [100, 100, 40],
            [2],
            Choice(0, 100, (0, 1, 2), None, is_sampled=False, is_open=True),
            id="one that may only be as good is a tie",
        ),
    ],
)
def test_scores_that_are_not_known_leave_the_choice_open(
    given: list[int], unknown: list[int], expected: Choice
) -> None:
    assert chosen(given, unknown=unknown) == expected
