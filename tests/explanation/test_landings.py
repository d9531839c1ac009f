"""Landings in the words of an explanation."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.landings import (
    LandingCount,
    count_landings,
    explained_landing,
    landing_lines,
    landing_message,
)
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.report.plan.document import LandingCause
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod

LANDS, LANDS_IF, LIKELY = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.LIKELY
UNKNOWN, NO = LandingVerdict.UNKNOWN, LandingVerdict.NO


def landing(verdict: LandingVerdict = LANDS, **facts: Any) -> Landing:
    """Of a pod on node a, whose replacement goes to b."""
    pod = make_pod("web-1")
    given = {"cold": verdict, "node": "b", "ties": ("b",), **facts}
    return Landing(
        pod, Replacement(pod, OwnerAnswer(Returns.AT_ONCE), pod, "template"), verdict, given.pop("cold"), **given
    )


def without_pod(**facts: Any) -> Landing:
    """Of a pod that is not created again."""
    found = landing()
    answer = OwnerAnswer(Returns.NOT_CREATED, cause=facts.pop("cause", ""), loss=facts.pop("loss", ""))
    return replace(found, replacement=replace(found.replacement, pod=None, answer=answer, **facts))


ONTO_B = "the replacement pod can be scheduled onto b"


@pytest.mark.parametrize(
    ("found", "summary"),
    [
        pytest.param(landing(), ONTO_B, id="one node"),
        pytest.param(landing(ties=("b", "c")), f"{ONTO_B}, or on another node of equal score", id="two"),
        pytest.param(landing(ties=("b", "c", "d")), f"{ONTO_B}, or on 2 other nodes of equal score", id="three"),
        pytest.param(
            landing(ties=("b", "c"), is_open=True), f"{ONTO_B}, or on another node that may have the higher score",
            id="open",
        ),
        pytest.param(
            landing(ties=("b", "c"), is_open=True, open_cause="x"), f"{ONTO_B}, or on another node that fits",
            id="open for a cause",
        ),
        pytest.param(
            landing(ties=("b", "c", "d"), open_cause="x"), f"{ONTO_B}, or on 2 other nodes that fit", id="several fit"
        ),
        pytest.param(landing(cold=NO), f"{ONTO_B}, but only once the pod is gone", id="once it is gone"),
        pytest.param(
            landing(LANDS_IF, conditions=("x", "y")), f"{ONTO_B}, under a condition: x; y", id="conditions"
        ),
        pytest.param(
            landing(node="a", ties=("a",)),
            "the replacement pod can be scheduled onto a, the node of the pod itself", id="the same node",
        ),
        pytest.param(
            landing(LIKELY, cause="GPUs are not modelled"),
            "the replacement pod is likely scheduled onto b; GPUs are not modelled", id="likely",
        ),
        pytest.param(landing(NO, message="no room"), "the replacement pod would stay pending: no room", id="pending"),
        pytest.param(
            landing(NO, message="of x", preemption="x"),
            "the replacement pod can be scheduled by preemption alone: of x", id="preemption",
        ),
        pytest.param(
            landing(UNKNOWN, message="no template"),
            "unknown whether the replacement pod can be scheduled: no template", id="unknown",
        ),
        pytest.param(without_pod(), "no replacement pod is created", id="not created"),
        pytest.param(without_pod(cause="c"), "no replacement pod is created: c", id="not created for a cause"),
        pytest.param(without_pod(loss="the Job fails", cause="c"), "the Job fails", id="the owner ends"),
    ],
)  # fmt: skip
def test_landing_is_summed_up_in_a_sentence(found: Landing, summary: str) -> None:
    assert explained_landing(found, is_chosen=False).summary == summary


def test_replacement_that_is_barred_is_not_created() -> None:
    found = landing()

    barred = replace(found, replacement=replace(found.replacement, barred="a quota is used up"))

    assert explained_landing(barred, is_chosen=False).summary == ("no replacement pod is created: a quota is used up")


def test_landing_of_no_pod_has_no_verdict() -> None:
    created, none = (explained_landing(each, is_chosen=False) for each in (landing(), without_pod()))

    assert (created.verdict, created.cold, created.settled) == ("lands", "lands", "lands")
    assert (none.verdict, none.cold, none.settled) == (None, None, None)


@pytest.mark.parametrize(
    ("facts", "is_chosen", "number", "start"),
    [
        ({}, False, 0, ""),
        ({}, True, 1, "the plan chose the node (chooseNodes: true)"),
        ({"is_open": True}, False, 1, "some scores are not modelled"),
        ({"is_open": True, "open_cause": "x"}, False, 1, "which of the nodes that fit is chosen is unknown: x"),
    ],
    ids=["none", "chosen", "open", "open for a cause"],
)
def test_notes_say_why_the_node_is_not_certain(facts: dict[str, Any], is_chosen: bool, number: int, start: str) -> None:
    notes = explained_landing(landing(**facts), is_chosen=is_chosen).notes

    assert len(notes) == number
    assert all(note.startswith(start) for note in notes)


def test_notes_of_the_owner_are_told_where_it_creates_a_pod() -> None:
    found = landing()
    noted = replace(found.replacement, notes=("a note",))

    assert "a note" in explained_landing(replace(found, replacement=noted), is_chosen=False).notes
    assert explained_landing(replace(found, replacement=replace(noted, pod=None)), is_chosen=False).notes == ()


def test_message_is_that_of_the_landing_or_its_conditions() -> None:
    assert landing_message(landing()) == ""
    assert landing_message(landing(NO, message="no room")) == "no room"
    assert landing_message(landing(LANDS_IF, conditions=("x", "y"))) == "x; y"


def test_landings_are_counted_the_most_frequent_verdict_first_and_then_by_name() -> None:
    found = [landing(NO), landing(), without_pod(), landing(), landing(UNKNOWN)]

    assert [(each.verdict, each.num_pods) for each in count_landings(found)] == [
        ("lands", 2),
        (None, 1),
        ("no", 1),
        ("unknown", 1),
    ]


def lines(counts: list[tuple[Any, int]], *causes: tuple[Any, str, int]) -> list[str]:
    return list(
        landing_lines(
            [LandingCount(verdict=verdict, num_pods=number) for verdict, number in counts],
            [LandingCause(verdict=verdict, cause=cause, num_pods=number) for verdict, cause, number in causes],
            TableStyle(),
        )
    )


def test_each_cause_is_said_once_behind_its_verdict() -> None:
    counts = [("unknown", 3), ("likely", 2), ("lands", 1), (None, 1)]
    causes = [("likely", "GPUs", 2), ("unknown", "no template", 2), ("unknown", "a claim", 1)]

    assert lines(counts, *causes) == [
        "Replacement pods: 3 unknown (2: no template; 1: a claim), 2 likely (GPUs), 1 can be scheduled, 1 not created",
        "",
    ]


def test_nothing_is_said_without_replacements() -> None:
    assert lines([]) == []
