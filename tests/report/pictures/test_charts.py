"""Where the bars and lines of charts stand, and what they say."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.plan.facts import NodeClasses
from descheduler.report.pictures.charts import (
    Bar,
    SearchChart,
    group_shares,
    histogram_of,
    level_of,
    search_of,
    strips_of,
    targets_of,
)
from descheduler.report.plan.goal import SearchMoment
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.pictures.builders import amounts, figures, goal, group, node, objective, two_nodes


def test_strip_has_a_named_bar_for_each_node_that_changes_and_a_path_for_the_others() -> None:
    (strip,) = strips_of(two_nodes(), "cpu")

    assert (strip.title, strip.width) == ("all zones and pools, 3 nodes", 72.0)
    assert strip.before == [Bar(0, 20.64, 22.0, 4, "a: 50% → 0%"), Bar(24, 20.64, 11.0, 2, "b: 25% → 75%")]
    assert strip.after == [Bar(0, 20.64, 0.0, 0, "a: 50% → 0%"), Bar(24, 20.64, 33.0, 6, "b: 25% → 75%")]
    assert strip.unchanged == {1: "M48 38.5v5.5h20.64v-5.5z"}
    assert (strip.unnamed_before, strip.unnamed_after) == ({}, {})


def test_nodes_that_are_not_named_are_paths_of_their_shade() -> None:
    (strip,) = strips_of(two_nodes(), "cpu", names_nodes=False)

    assert (strip.before, strip.after) == ([], [])
    assert strip.unnamed_before == {2: "M24 33v11h20.64v-11z", 4: "M0 22v22h20.64v-22z"}
    assert strip.unnamed_after == {0: "M0 44v0h20.64v-0z", 6: "M24 11v33h20.64v-33z"}


def test_bars_are_narrower_where_there_are_many_nodes() -> None:
    (strip,) = strips_of(figures([], [group(num_nodes=2160, steps={0: 2160})]), "cpu")

    assert (strip.width, strip.unchanged[0].count("h0.43v")) == (1080.0, 2160)


def test_bar_of_a_node_beyond_its_whole_is_as_high_as_the_chart() -> None:
    (strip,) = strips_of(figures([node("a", 100, 130)], [group()]), "cpu")

    assert [(bar.height, bar.level) for bar in (*strip.before, *strip.after)] == [(44.0, 8), (44.0, 8)]
    assert strip.after[0].words == "a: 100% → 130%"


def test_group_without_the_resource_has_no_strip() -> None:
    assert list(strips_of(two_nodes(), "gpu")) == []


@pytest.mark.parametrize(
    ("zone", "pool", "title"),
    [
        ("", "", "all zones and pools"),
        ("z1", "", "zone z1"),
        ("", "web", "pool web"),
        ("z1", "web", "zone z1, pool web"),
    ],
)
def test_groups_are_titled_by_zone_and_pool(zone: str, pool: str, title: str) -> None:
    found = figures([], [group(zone, pool, num_nodes=4, before=amounts(50, 20), after=amounts(25, 20))])

    (shares,) = group_shares(found)

    assert (shares.title, shares.num_nodes) == (title, 4)
    assert shares.shares == {"cpu": ("50%", "25%"), "memory": ("20%", "20%")}


def test_histogram_counts_nodes_by_steps_of_five_percent() -> None:
    found = histogram_of(figures([node("a", 0, 100)], [group(steps={0: 1, 19: 4})]), "cpu")

    assert found.before == [
        Bar(0.0, 11, 60.0, 0, "2 nodes before at 0-5%"),
        Bar(570.0, 11, 120.0, 8, "4 nodes before at 95-100%"),
    ]
    assert found.after == [
        Bar(12.0, 11, 30.0, 0, "1 node after at 0-5%"),
        Bar(582.0, 11, 120.0, 8, "4 nodes after at 95-100%"),
        Bar(612.0, 11, 30.0, 8, "1 node after at 100% or more"),
    ]
    assert found.most_words == "4 nodes"


def test_histogram_of_no_nodes_is_empty() -> None:
    found = histogram_of(figures(), "cpu")

    assert (found.before, found.after) == ([], [])


def moment(seconds: float, figure: float, bound: float) -> SearchMoment:
    return SearchMoment(seconds=seconds, figure=figure, bound=bound, evictions=0)


def test_search_is_drawn_as_steps_over_its_time() -> None:
    history = (moment(0.0, 4, 0), moment(5.0, 2, 1), moment(10.0, 2, 2))

    assert search_of(objective(history=history)) == SearchChart(
        figure="M0 0H200V50H400V50", bound="M0 100H200V75H400V50", seconds=10.0, most=4
    )


def test_search_whose_bound_is_above_its_figures_is_drawn_up_to_the_bound() -> None:
    found = search_of(objective(history=(moment(0.0, 1, 2), moment(1.0, 1, 1))))

    assert found is not None
    assert (found.most, found.bound) == (2, "M0 0H400V50")


@pytest.mark.parametrize(
    "history",
    [
        pytest.param((), id="no moment"),
        pytest.param((moment(1.0, 4, 0),), id="one moment"),
        pytest.param((moment(0.0, 0, 0), moment(1.0, 0, 0)), id="nothing to do"),
        pytest.param((moment(0.0, 4, 0), moment(0.0, 2, 0)), id="no time"),
    ],
)
def test_search_in_which_nothing_happened_is_not_drawn(history: tuple[SearchMoment, ...]) -> None:
    assert search_of(objective(history=history)) is None


def test_targets_are_those_of_plugins_and_planners_each_once() -> None:
    plan = make_test_plan([make_pod("young", age=1)])
    (plugin,) = plan.plugins
    assert plugin.facts is not None
    classes = [
        NodeClasses(under=0, between=0, over=0, thresholds={}, target_thresholds=targets)
        for targets in ({"cpu": 70}, {"cpu": 60, "memory": 50}, {"memory": 40})
    ]
    plugins = [replace(plugin, facts=replace(plugin.facts, nodes=nodes)) for nodes in classes]
    plugins += [replace(plugin, facts=None), plugin]
    objectives = (objective(targets={"cpu": 70.0}), objective(targets={"cpu": 65.0}), objective())

    alone = replace(plan, plugins=tuple(plugins))
    both = replace(alone, goal=goal(*objectives))

    assert targets_of(plan, "cpu") == []
    assert targets_of(alone, "cpu") == [60, 70]
    assert targets_of(both, "cpu") == [60, 65, 70]
    assert targets_of(both, "memory") == [40, 50]


@pytest.mark.parametrize(("percent", "level"), [(0, 0), (11, 0), (12, 1), (50, 4), (99.9, 8), (100, 8), (250, 8)])
def test_shades_go_from_empty_to_full(percent: float, level: int) -> None:
    assert level_of(percent) == level
