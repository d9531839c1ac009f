"""The node with the highest total is chosen, and its lead over the next one is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
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
POINTS = frozenset({"score"})


class Fixed:
    """Gives each node the score that it is told; those of the nodes in `unknown` may be anything."""

    name = "Fixed"
    is_static = False

    def __init__(self, given: Sequence[int], unknown: Sequence[int], level: int | None = None) -> None:
        self._scores = Scores(np.array(given), level=level)
        self._unknown = np.isin(np.arange(len(given)), unknown)

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """What each node is given."""
        del cycle, feasible
        return self._scores

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
    beside: Sequence[int] = (),
    num_nodes_to_find: int = 100,
) -> Choice | None:
    """The choice among nodes that are given these scores, out of which a pod has no way onto the `cordoned`.

    A second plugin of weight 2 gives what is `beside`, where that is the same for all nodes as one level.
    """

    def make(cluster: ShadowCluster, profile: SchedulerProfile) -> Fixed:
        del cluster, profile
        return Fixed(given, unknown)

    def make_second(cluster: ShadowCluster, profile: SchedulerProfile) -> Fixed:
        del cluster, profile
        second = beside or [0] * len(given)
        return Fixed(second, (), second[0] if len(set(second)) == 1 else None)

    nodes = [make_node(f"n{index}", unschedulable=index in cordoned) for index in range(len(given))]
    cluster = ShadowCluster(make_snapshot(nodes, []))
    profile = replace(PROFILE, scores=(("Fixed", weight), ("Second", 2)))
    plugins = {
        **PLUGINS,
        "Fixed": SchedulingPlugin(plugin=make, score=make, points=POINTS),
        "Second": SchedulingPlugin(plugin=make_second, score=make_second, points=POINTS),
    }
    evaluation = Scheduler(cluster, profile, plugins=plugins).evaluate(make_pod("pod", node=""))
    return Scoring(cluster, profile, plugins, num_nodes_to_find).choose(evaluation)


@pytest.mark.parametrize(
    ("given", "facts", "expected"),
    [
        pytest.param([10, 70, 40], {}, Choice(1, 70, (1,), 30, is_sampled=False), id="the lead over the second best"),
        pytest.param([10, 70, 40], {"weight": 3}, Choice(1, 210, (1,), 90, is_sampled=False), id="with a weight"),
        pytest.param([10, 70], {"beside": [30, 20]}, Choice(1, 110, (1,), 40, is_sampled=False), id="of all plugins"),
        pytest.param(
            [10, 70], {"beside": [5, 5]}, Choice(1, 80, (1,), 60, is_sampled=False), id="with a level for all"
        ),
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
    ("given", "unknown", "beside", "expected"),
    [
        pytest.param(
            [0, 0, 0],
            [0],
            [100, 40, 20],
            Choice(0, 200, (0,), 120, is_sampled=False),
            id="a node that wins whatever it is given is certain",
        ),
        pytest.param(
            [0, 0],
            [1],
            [75, 10],
            Choice(0, 150, (0,), 30, is_sampled=False),
            id="the lead is that over the most that the next one may have",
        ),
        pytest.param(
            [50, 10],
            [1],
            [75, 10],
            Choice(0, 200, (0,), 80, is_sampled=False),
            id="which is the most of the plugin in the place of what it gives",
        ),
        pytest.param(
            [10, 70, 40],
            [0],
            [],
            Choice(1, 70, (1, 0), 30, is_sampled=False, is_open=True),
            id="a score that may be the best is open, and comes last",
        ),
        pytest.param(
            [90, 70, 40],
            [0],
            [],
            Choice(1, 70, (1, 0), 30, is_sampled=False, is_open=True),
            id="however much it was given",
        ),
        pytest.param(
            [10, 70], [0, 1], [], Choice(1, 70, (1, 0), None, is_sampled=False, is_open=True), id="all are open"
        ),
        pytest.param(
            [100, 100, 40],
            [2],
            [],
            Choice(0, 100, (0, 1, 2), None, is_sampled=False, is_open=True),
            id="one that may only be as good is a tie",
        ),
    ],
)
def test_scores_that_are_not_known_leave_the_choice_open(
    given: list[int], unknown: list[int], beside: list[int], expected: Choice
) -> None:
    assert chosen(given, unknown=unknown, beside=beside) == expected


def test_one_node_that_passes_is_certain_whatever_is_not_known_of_scores() -> None:
    evaluation = Scheduler(
        ShadowCluster(make_snapshot([make_node("a"), make_node("b", unschedulable=True)])), PROFILE, plugins=PLUGINS
    ).evaluate(make_pod("pod", node=""))
    choice = evaluation.choose()
    assert choice is not None

    opened = Scoring(evaluation.cycle.cluster, PROFILE, PLUGINS, 100).opened(choice, evaluation, "a plugin is unknown")

    assert (choice.ties, opened) == ((0,), choice)
