"""What is printed of a plugin: what it does, who runs it, and what it decided."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.docs.arguments import PluginArgument
from descheduler.explanation.explaining import settings_for
from descheduler.explanation.subjects.plugin import (
    PluginDecisions,
    PluginExplanation,
    PluginUse,
    explain_plugin,
    plugin_table,
)
from descheduler.placement.plugins.table import PLUGINS
from descheduler.plan.facts import NearestValue, NodeClasses
from descheduler.report.facts import ReportedFacts
from descheduler.report.tables.table_style import TableStyle

PLUGIN = PluginExplanation(
    name="P",
    kind="descheduling",
    summary="Evicts pods.",
    about=(),
    points=("deschedule",),
    reasons=(),
    arguments=(),
    uses=(),
    not_enabled="",
    decisions=(),
)
FACTS = ReportedFacts(
    why_nothing="",
    stopped="",
    pods_examined=1200,
    pods_selected=3,
    left_out={"minPodAge": 1000, "labelSelector": 197},
    nearest=(),
    nodes=None,
    counts={},
)
DECIDED = PluginDecisions(profile="main", evicted=2, evicted_by_others=0, refused={}, goals=(), facts=None)


def lines_of(*, width: int | None = None, is_wide: bool = False, **change: Any) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    lines = plugin_table(replace(PLUGIN, **change), TableStyle(is_wide=is_wide, width=width))
    return [" ".join(line.split()) for line in lines if line]


@pytest.mark.parametrize(("kind", "of"), [("descheduling", "plugin"), ("scheduling", "scheduler plugin")])
def test_heading_says_whose_plugin_it_is_and_where_it_runs(kind: Any, of: str) -> None:
    assert lines_of(kind=kind, points=("filter", "score"))[0] == f"P (filter, score {of})"


@pytest.mark.parametrize(("width", "longest"), [(None, 120), (200, 120), (60, 60)])
def test_paragraphs_are_wrapped_at_the_width_of_the_terminal(width: int | None, longest: int) -> None:
    lines = lines_of(width=width, about=("word " * 100,))

    assert longest - 5 < max(map(len, lines)) <= longest


def test_arguments_that_most_plugins_share_are_shown_in_wide_tables() -> None:
    names = ("maxAge", "namespaces", "namespaces.include", "labelSelector.matchLabels", "ownPart.x")
    arguments = tuple(PluginArgument(name=name, type_text="string", default="", meaning="m") for name in names)

    def shown(*, is_wide: bool) -> list[str]:
        return [line.split()[0] for line in lines_of(arguments=arguments, is_wide=is_wide)[3:]]

    assert shown(is_wide=False) == ["maxAge", "namespaces", "ownPart.x"]
    assert shown(is_wide=True) == list(names)


def use(profile: str, *, weight: int | None = None, **args: str) -> PluginUse:
    return PluginUse(profile=profile, points=("filter", "score"), weight=weight, args=args)


def test_profiles_that_run_it_have_a_weight_where_any_scores() -> None:
    assert lines_of(uses=(use("a", x="1", y="2"), use("b")))[2:] == [
        "PROFILE RUNS AT ARGUMENTS",
        "a filter, score x: 1, y: 2",
        "b filter, score defaults",
    ]
    assert lines_of(uses=(use("a", weight=3), use("b")))[2:] == [
        "PROFILE RUNS AT WEIGHT ARGUMENTS",
        "a filter, score 3 defaults",
        "b filter, score - defaults",
    ]


@pytest.mark.parametrize(
    ("points", "decided", "header", "row"),
    [
        pytest.param(("deschedule",), {}, "PROFILE PODS EVICTED SELECTED, NOT EVICTED", "main 2 none", id="deschedule"),
        pytest.param(("balance",), {"refused": {"BarePod": 2, "X": 1}}, "PROFILE PODS EVICTED SELECTED, NOT EVICTED",
                     "main 2 BarePod 2, X 1", id="balance"),
        pytest.param(("deschedule",), {"evicted_by_others": 3},
                     "PROFILE PODS EVICTED EVICTED BY ANOTHER PLUGIN SELECTED, NOT EVICTED", "main 2 3 none",
                     id="shared"),
        pytest.param(("filter",), {"refused": {"BarePod": 2}}, "PROFILE PODS REFUSED", "main BarePod 2", id="filter"),
    ],
)  # fmt: skip
def test_decisions_are_counted(points: tuple[str, ...], decided: dict[str, Any], header: str, row: str) -> None:
    assert lines_of(points=points, decisions=(replace(DECIDED, **decided),))[2:4] == [header, row]


def test_goals_of_a_planner_name_their_profile() -> None:
    lines = lines_of(decisions=(replace(DECIDED, goals=("2 nodes emptied", "done")), replace(DECIDED, profile="b")))

    assert [line for line in lines if line.startswith("Goal")] == [
        "Goal of profile main: 2 nodes emptied",
        "Goal of profile main: done",
    ]


NEAREST = NearestValue(key="cpu", limit=70, value=69.96, unit="percent", subject="a")


@pytest.mark.parametrize(
    ("nearest", "row"),
    [
        (NEAREST, "main cpu: 70 70% a"),
        (replace(NEAREST, value=85.34), "main cpu: 70 85.3% a"),
        (replace(NEAREST, key="podRestartThreshold", limit=1000, value=12, unit="restarts"),
         "main podRestartThreshold: 1,000 12 restarts a"),
        (replace(NEAREST, limit=0.5, value=1500, unit="seconds"), "main cpu: 0.5 1,500 seconds a"),
    ],
    ids=["rounded up", "a decimal", "restarts", "thousands"],
)  # fmt: skip
def test_nearest_value_is_told_with_its_unit(nearest: NearestValue, row: str) -> None:
    facts = replace(FACTS, nearest=(nearest,))

    assert row in lines_of(decisions=(replace(DECIDED, facts=facts),))


def test_what_was_examined_is_told_by_rule_and_by_class_of_node() -> None:
    nodes = NodeClasses(under=1, between=2, over=1200, thresholds={}, target_thresholds={})

    lines = lines_of(decisions=(replace(DECIDED, facts=replace(FACTS, nodes=nodes, why_nothing="no node is over")),))

    assert "main 1,200 3 minPodAge 1,000, labelSelector 197" in lines
    assert "main 1 2 1,200" in lines
    assert lines[-2:] == ["PROFILE WHY NOTHING IS EVICTED", "main no node is over"]


def test_plugin_without_facts_has_no_tables_of_them() -> None:
    assert len(lines_of(decisions=(DECIDED,))) == 4
    assert "PROFILE NODES UNDER BETWEEN OVER THRESHOLDS" not in lines_of(decisions=(replace(DECIDED, facts=FACTS),))


def test_plugin_that_is_not_enabled_says_so() -> None:
    assert lines_of(not_enabled="P is not enabled")[-1] == "P is not enabled"


@pytest.mark.parametrize("name", PLUGINS)
def test_plugin_of_a_scheduler_says_what_it_checks_and_what_it_prefers(name: str) -> None:
    about = PLUGINS[name].about

    found = explain_plugin(name, policy=None, scheduling=settings_for(None).resolved())

    assert found.summary
    assert len(found.about) == (1 if about.check and about.preference else 0)
    assert all(text.startswith("Prefers ") for text in found.about)
