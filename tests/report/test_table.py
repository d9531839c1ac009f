from __future__ import annotations

import re

import pytest

from descheduler.report.palette import PLAIN, Palette, wants_colour
from descheduler.report.plan import Plan
from descheduler.report.render import Format, render
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy


def text_of(plan: Plan, output_format: Format = "table", *, palette: Palette = PLAIN) -> str:
    return "".join(render(plan, output_format, palette=palette))


def test_table_shows_moves_sums_and_reasons() -> None:
    pods = [make_pod("bare", owners=()), make_pod("old", cpu="500m", memory="1Gi")]

    text = text_of(make_test_plan(pods))

    assert text == (
        "NAMESPACE   POD   NODE   TO   PLUGIN        REASON\n"
        "default     old   a      b    PodLifeTime   is 3600 s old, 60 s are allowed\n"
        "\n"
        "1 pod would be evicted (PodLifeTime 1), 0 requests refused, 1 candidate kept\n"
        "replacements: 1 lands\n"
        "2 pods on 2 nodes request 0.5 of 8.0 cores and 1.0 of 16.0 GiB; 0.5 cores and 1.0 GiB leave their node\n"
        "\n"
        "KEPT   CODE      REASON\n"
        "1      BarePod   the pod has no owner that recreates it\n"
        "\n"
    )


def test_candidates_that_were_not_asked_for_show_in_wide_tables_only() -> None:
    plan = make_test_plan([make_pod("bare", owners=())])

    table, wide = text_of(plan), text_of(plan, "wide")

    assert "bare " not in table
    assert re.search(r"^default +bare +a +PodLifeTime +BarePod", wide, re.MULTILINE)


def test_requests_that_met_a_limit_are_counted_but_not_listed() -> None:
    plan = make_test_plan(policy=pod_life_time_policy(maxNoOfPodsToEvictPerNode=1))

    text = text_of(plan)

    assert "POD THAT STAYS" not in text
    assert re.search(r"^2 +LimitReached", text, re.MULTILINE)


def test_a_long_list_of_refusals_is_cut_and_says_so() -> None:
    pods = [make_pod(f"old-{index:02}", uid="") for index in range(25)]

    text = text_of(make_test_plan(pods))

    assert text.count(" MissingUID ") == 20 + 1
    assert "and 5 more; -o wide shows them all" in text


def test_wide_table_shows_the_figures_of_nodes_and_plugins() -> None:
    plan = make_test_plan([make_pod("old", cpu="1", memory="2Gi"), make_pod("bare", cpu="1", owners=())])

    text = text_of(plan, "wide")

    assert re.search(r"^main +PodLifeTime +1 +0 +BarePod 1$", text, re.MULTILINE)
    assert re.search(r"^a +2 -> 1 +50% -> 25% +25% -> 0%$", text, re.MULTILINE)


def test_a_share_of_nothing_is_not_a_number() -> None:
    plan = make_test_plan([make_pod("old", cpu="1")], nodes=[make_node("a", cpu=None), make_node("b")])

    assert "? -> ?" in text_of(plan, "wide")


def test_a_run_without_judgement_says_why() -> None:
    assert "nothing was judged: no ready node" in text_of(make_test_plan(nodes=[]))


def test_warnings_and_left_out_objects_come_last() -> None:
    plan = make_test_plan(warnings=("no budgets\x1b",), skipped=("pod x is broken",))

    lines = text_of(plan).splitlines()

    assert lines[-2:] == ["warning: no budgets\\x1b", "warning: left out: pod x is broken"]


def test_colours_mark_headings_and_warnings_only_when_asked_for() -> None:
    plan = make_test_plan(warnings=("look here",))

    coloured = text_of(plan, palette=Palette(is_coloured=True))

    assert "\x1b[33mwarning: look here\x1b[0m" in coloured
    assert "\x1b" not in text_of(plan)


@pytest.mark.parametrize(
    ("is_terminal", "environ", "expected"),
    [
        pytest.param(True, {}, True, id="a terminal is coloured"),
        pytest.param(False, {}, False, id="a pipe is not"),
        pytest.param(True, {"NO_COLOR": "1"}, False, id="NO_COLOR wins"),
        pytest.param(True, {"NO_COLOR": ""}, True, id="an empty NO_COLOR does not count"),
        pytest.param(True, {"TERM": "dumb"}, False, id="a dumb terminal is left alone"),
    ],
)
def test_when_output_is_coloured(is_terminal: bool, environ: dict[str, str], expected: bool) -> None:
    assert wants_colour(is_terminal=is_terminal, environ=environ) is expected
