"""The lines that sum a plan or an outcome up."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.document import PodReference
from descheduler.report.outcome.document import NotAttempted, OutcomeDocument
from descheduler.report.plan.document import (
    LandingCause,
    LandingTotals,
    Plan,
    PluginFigures,
    ReachedLimit,
    RepeatedRequest,
)
from descheduler.report.tables.columns import TIE
from descheduler.report.tables.summary import (
    landing_summary,
    limit_texts,
    outcome_headline,
    outcome_summary,
    plan_headline,
    plan_summary,
    plugin_title,
    results_text,
)
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.report.outcomes import EVICTED, FAILED, TOO_LATE, outcome_of
from tests.report.pictures.builders import goal, objective

PLAN = make_test_plan()


def line(found: Plan | OutcomeDocument, label: str) -> str:
    """What the summary says under this label; "" where it says nothing."""
    lines = plan_summary(found, TableStyle()) if isinstance(found, Plan) else outcome_summary(found, TableStyle())
    texts = [text.partition(":") for text in lines]
    return next((said.strip() for name, _, said in texts if name == label), "")


def totals(**counts: Any) -> LandingTotals:
    """Of as many replacements as are counted, all of them looked up."""
    number = sum(counts.get(verdict, 0) for verdict in ("lands", "lands_if", "likely", "unknown", "no"))
    zero = dict.fromkeys(("lands", "lands_if", "likely", "unknown", "no"), 0)
    rest = {"returns_to_source": 0, "not_created": 0, "owner_ends": 0, "together": None, "certificate": ""}
    given = {"num_evicted": number, "num_assessed": number, "is_verified": False, "causes": (), "conditions": ()}
    return LandingTotals(**{**zero, **rest, **given, **counts})


WAY_OUT = "enable PlacementVerification to evict only pods whose replacements can be scheduled"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        pytest.param({"num_evicted": 3}, "", id="nothing looked up"),
        pytest.param({"lands": 1200}, "1,200 can be scheduled", id="all"),
        pytest.param({"lands": 2, "not_created": 2}, "2 not created again", id="none created"),
        pytest.param({"lands": 3, "not_created": 1}, "2 can be scheduled, 1 not created again", id="one not created"),
        pytest.param({"likely": 1, "lands_if": 2, "unknown": 3},
                     "1 likely, 2 can be scheduled under a condition, 3 unknown", id="uncertain"),
        pytest.param({"no": 2}, f"2 would stay pending; {WAY_OUT}", id="pending"),
        pytest.param({"no": 2, "is_verified": True}, "2 would stay pending", id="pending though verified"),
        pytest.param({"no": 3, "owner_ends": 1}, "2 would stay pending, 1 not created because the eviction fails or"
                     f" ends the Job; {WAY_OUT}", id="a Job ends"),
        pytest.param({"lands": 1, "returns_to_source": 1},
                     f"1 can be scheduled; 1 of them onto the same node again; {WAY_OUT}", id="the same node"),
        pytest.param({"lands": 1, "returns_to_source": 1, "is_verified": True},
                     "1 can be scheduled; 1 of them onto the same node again", id="the same node though verified"),
        pytest.param({"lands": 2, "num_evicted": 5}, "2 can be scheduled (the first 2)", id="the first"),
        pytest.param({"lands": 2, "together": "lands"},
                     "2 can be scheduled; all fit together in every order tried", id="together"),
        pytest.param({"lands": 2, "together": "lands", "is_verified": True},
                     "2 can be scheduled; all that are evicted together fit in every order", id="together, verified"),
        pytest.param({"lands": 1, "together": "lands"}, "1 can be scheduled", id="one needs no others"),
        pytest.param({"lands": 2, "together": "unknown"}, "2 can be scheduled", id="not known together"),
        pytest.param({"likely": 2, "causes": (LandingCause(verdict="likely", cause="GPUs", num_pods=2),)},
                     "2 likely; not checked: GPUs (2 pods)", id="causes"),
    ],
)  # fmt: skip
def test_replacement_pods_are_summed_up(counts: dict[str, Any], said: str) -> None:
    assert landing_summary(totals(**counts)) == said


def limit(name: str = "maxNoOfPodsToEvictPerNode", *, scope: str = "", value: int = 1, **facts: Any) -> ReachedLimit:
    return ReachedLimit(limit=name, value=value, scope=scope, **{"percentage": "", "num_pods": 2, **facts})


@pytest.mark.parametrize(
    ("limits", "more", "is_lower_bound", "texts"),
    [
        pytest.param([limit("total", value=1200)], 3, False, ["total (1,200)", "3 more pods match"], id="of the run"),
        pytest.param([limit("total")], 1, True, ["total (1)", "at least 1 more pod matches"], id="a lower bound"),
        pytest.param([limit("total")], 0, True, ["total (1)"], id="no more pods"),
        pytest.param([limit("w", percentage="10%", value=3)], 0, False, ["w (10%: 3)"], id="a share"),
        pytest.param(
            [limit("node", scope=name) for name in "abcd"], 0, False, ["node (1) for a, b, c and 1 more"], id="of nodes"
        ),
        pytest.param(
            [limit("node", scope="a"), limit("node", scope="b", value=2)], 0, False,
            ["node (1) for a", "node (2) for b"], id="of two values",
        ),
        pytest.param([], 0, False, [], id="none"),
    ],
)  # fmt: skip
def test_limits_are_told_with_what_reached_them(
    limits: list[ReachedLimit], more: int, is_lower_bound: bool, texts: list[str]
) -> None:
    plan = replace(PLAN, limits=tuple(limits), num_more_matching=more, is_lower_bound=is_lower_bound)

    assert list(limit_texts(plan)) == texts


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (8, "8, of 1, 1, 1, 1, 1, 1, 1 and 1 pods"),
        (9, "9, of 1, 1, 1, 1, 1, 1, 1, 1 and 1 more wave"),
        (2, "2, of 1 and 1 pods"),
        (1, ""),
    ],
)
def test_waves_are_counted_up_to_eight(number: int, text: str) -> None:
    plan = make_test_plan([make_pod(f"old-{each}") for each in range(number)])
    moves = tuple(replace(move, wave=wave) for wave, move in enumerate(plan.moves))

    assert line(replace(plan, moves=moves), "Waves").partition(";")[0] == text


def test_goal_is_said_once_where_it_says_why_nothing_is_evicted() -> None:
    plan = make_test_plan([make_pod("young", age=1)])
    why = line(plan, "Why")

    same, other = (replace(plan, goal=goal(objective(sentence=said))) for said in (why, "2 nodes drained"))

    assert (line(same, "Goal"), line(same, "Why")) == ("", why)
    assert (line(other, "Goal"), line(other, "Why")) == ("2 nodes drained", why)


def test_several_goals_have_a_line_each() -> None:
    one, two = objective(sentence="1 node over target → 0"), objective(sentence="2 nodes in use → 1")

    found = replace(PLAN, goal=goal(one, two))
    assert [line(found, label) for label in ("Goal", "Goal 1", "Goal 2")] == ["", one.sentence, two.sentence]

    of_profiles = replace(PLAN, goal=goal(one, replace(two, profile="q")))
    assert line(of_profiles, "Goal 2") == "profile q: 2 nodes in use → 1"


def test_several_goals_are_not_said_again_as_the_reason_why_nothing_is_evicted() -> None:
    plan = make_test_plan([make_pod("young", age=1)])
    (figures,), why = plan.plugins, line(plan, "Why")
    goals = goal(*(objective(sentence=said, plugin="Planner") for said in ("nothing to do", "2 nodes in use → 2")))

    def planner(why_nothing: str) -> PluginFigures:
        assert figures.facts is not None
        return replace(figures, profile="p", plugin="Planner", facts=replace(figures.facts, why_nothing=why_nothing))

    same = replace(plan, plugins=(planner("nothing to do; 2 nodes in use → 2"),), goal=goals)
    assert (line(same, "Goal 1"), line(same, "Goal 2"), line(same, "Why")) == (
        "nothing to do",
        "2 nodes in use → 2",
        "",
    )
    assert line(replace(same, plugins=(*same.plugins, figures)), "Why") == why
    assert line(replace(same, plugins=(planner("in a shard"),)), "Why") == "Planner: in a shard"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("", ""),
        ("workLimit", ""),
        ("timeLimit", "timeLimit (not reproducible)"),
        ("interrupt", "interrupt (not reproducible)"),
    ],
)
def test_end_of_a_search_is_told_where_another_run_may_find_another_plan(end: str, said: str) -> None:
    plan = PLAN

    assert line(replace(plan, goal=goal(objective(), search_ended_by=end)), "Search ended by") == said
    assert line(plan, "Search ended by") == ""


def test_pods_that_two_plugins_select_are_counted_once() -> None:
    plan = PLAN
    requests = [
        RepeatedRequest(pod=move.pod, node="a", profile="again", plugin=plugin, reason="")
        for plugin in ("A", "B")
        for move in plan.moves[:2]
    ]

    assert line(replace(plan, repeated_requests=tuple(requests)), "Selected twice") == (
        "2 pods (evicted and counted once)"
    )
    assert line(plan, "Selected twice") == ""


def test_evictions_of_other_controllers_are_counted() -> None:
    assert line(replace(PLAN, num_background=2), "Other controllers") == "2 pods being evicted by them"
    assert line(PLAN, "Other controllers") == ""


def test_requests_tell_what_the_evicted_pods_request_where_there_are_any() -> None:
    evicting, idle = make_test_plan([make_pod("old", cpu="1")]), make_test_plan([make_pod("young", age=1, cpu="1")])

    said = "1.0 of 8.0 CPU, 0.0 of 16.0 GiB memory (1 pod on 2 nodes)"
    assert line(evicting, "Requests") == f"{said}; evicted pods: 1.0 CPU and 0.0 GiB"
    assert line(idle, "Requests") == said


def test_nodes_are_drawn_on_a_terminal_where_pods_are_evicted() -> None:
    evicting, idle = make_test_plan([make_pod("old", cpu="1")]), make_test_plan([make_pod("young", age=1)])

    drawn = list(plan_summary(evicting, TableStyle(width=60)))[-2:]

    assert [text.partition(": ")[0].strip() for text in drawn] == ["Nodes by cpu before", "after"]
    assert all(len(text) == len("Nodes by cpu before: ") + 2 for text in drawn)
    for plan, style in ((idle, TableStyle(width=60)), (evicting, TableStyle())):
        assert not any("Nodes by" in text for text in plan_summary(plan, style))


def test_headline_of_a_skipped_run_is_why_and_nothing_else_is_said() -> None:
    plan = make_test_plan(policy=pod_life_time_policy(nodeSelector="pool=gpu"))

    assert plan_headline(plan) == f"Skipped: {plan.skipped}"
    assert list(plan_summary(plan, TableStyle())) == [plan_headline(plan)]


def test_jobs_of_users_are_carried_out_also_where_no_plugin_runs() -> None:
    outcome = outcome_of(EVICTED, FAILED)
    skipped = replace(outcome, plan=replace(outcome.plan, skipped="no node"))
    nothing = replace(skipped, results=())

    assert outcome_headline(skipped) == "1 pod evicted, 1 failed"
    assert line(skipped, "Skipped") == "no node"
    assert outcome_headline(nothing) == "Skipped: no node"
    assert list(outcome_summary(nothing, TableStyle())) == ["Skipped: no node"]


def test_outcome_counts_evicted_pods_by_plugin_and_the_others_by_cause() -> None:
    outcome = outcome_of(EVICTED, FAILED, TOO_LATE)
    left = (
        NotAttempted(code="deadline", message="--deadline exceeded", count=1),
        NotAttempted(code="stopped", message="SIGTERM", count=2),
    )

    found = replace(outcome, not_attempted=left, stopped_by="--deadline exceeded")

    assert line(found, "By plugin") == "PodLifeTime 1"
    assert line(found, "Not attempted") == "1 pod (--deadline exceeded), 2 pods (SIGTERM)"
    assert line(found, "Stopped by") == "--deadline exceeded"


def test_results_are_counted_in_pods_with_those_that_are_not_confirmed() -> None:
    assert results_text({"evicted": 1200, "gone": 1, "refused": 2, "failed": 0}, 3) == (
        "1,200 pods evicted, 3 of them unconfirmed, 1 already gone, 2 refused by the API server"
    )
    assert results_text({}, 0) == "0 pods evicted"


def test_plugin_is_named_with_its_profile_where_several_profiles_run() -> None:
    one, two = PLAN, make_test_plan(policy=pod_life_time_policy(["main", "again"]))

    assert (plugin_title(one, "main", "P"), plugin_title(two, "main", "P")) == ("P", "P (profile main)")
    assert plugin_title(two, "main", "") == "PodMigrationJobs of users"


def test_pods_that_stay_are_counted_by_code() -> None:
    plan = make_test_plan([make_pod("bare", owners=()), make_pod("set", owners=["DaemonSet/x"])])

    assert line(plan, "Not evicted") == "2 pods (BarePod 1, DaemonSet 1)".replace(TIE, " ")
    assert line(PLAN, "Not evicted") == ""


def test_pods_are_told_apart_by_namespace_and_uid() -> None:
    plan = PLAN
    pods = [PodReference(namespace=namespace, name="p", uid=namespace) for namespace in ("a", "b")]
    requests = [RepeatedRequest(pod=pod, node="a", profile="again", plugin="P", reason="") for pod in pods]

    assert line(replace(plan, repeated_requests=tuple(requests)), "Selected twice").startswith("2 pods")
