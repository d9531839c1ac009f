"""How the landings of evicted pods are counted in a plan, and what is said of Jobs that end."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from descheduler.placement.landings.landing import JointVerdict, Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.report.plan.document import LandingCause, LandingTotals
from descheduler.report.plan.landings import landing_totals, loss_notes, planned_landing, target_of
from tests.builders import make_pod

LANDS, NO = LandingVerdict.LANDS, LandingVerdict.NO


def landing(
    verdict: LandingVerdict = LANDS, *, name: str = "web-1", owner: str = "ReplicaSet/web", loss: str = "", **facts: Any
) -> Landing:
    """The landing of a pod on node a, whose owner fails with the sentence `loss`, if there is one."""
    pod = make_pod(name, owners=[owner] if owner else [])
    answer = OwnerAnswer(Returns.OWNER_ENDS if loss else Returns.AT_ONCE, loss=loss)
    return Landing(pod, Replacement(pod, answer, None if loss else pod, "template"), verdict, verdict, **facts)


def without_pod(verdict: LandingVerdict) -> Landing:
    found = landing(verdict)
    return replace(found, replacement=replace(found.replacement, pod=None))


def test_landings_are_counted_by_verdict_and_those_that_were_not_predicted_are_evicted_alone() -> None:
    unknown = landing(LandingVerdict.UNKNOWN, cause="no template")
    found = [landing(), None, landing(LandingVerdict.LANDS_IF), unknown, landing(NO), landing(NO), None]

    assert landing_totals(found, is_verified=True) == LandingTotals(
        is_verified=True,
        num_evicted=7,
        num_assessed=5,
        lands=1,
        lands_if=1,
        likely=0,
        unknown=1,
        no=2,
        causes=(LandingCause(verdict="unknown", cause="no template", num_pods=1),),
        returns_to_source=0,
        not_created=0,
        owner_ends=0,
        together=None,
        conditions=(),
        certificate="",
    )


def test_causes_are_those_of_likely_and_then_of_unknown_landings_most_frequent_first() -> None:
    likely, unknown = LandingVerdict.LIKELY, LandingVerdict.UNKNOWN
    found = [
        landing(unknown, cause="no template"),
        landing(likely, cause="a volume"),
        landing(likely, cause="GPUs"),
        landing(likely, cause="GPUs"),
        landing(LANDS, cause="nothing"),
    ]

    causes = landing_totals(found, is_verified=False).causes

    assert [(each.verdict, each.cause, each.num_pods) for each in causes] == [
        ("likely", "GPUs", 2),
        ("likely", "a volume", 1),
        ("unknown", "no template", 1),
    ]


def test_pods_that_are_not_created_again_are_told_from_those_whose_owner_ends() -> None:
    totals = landing_totals([without_pod(LANDS), landing(NO, loss="the Job fails"), landing(NO)], is_verified=False)

    assert (totals.lands, totals.not_created, totals.no, totals.owner_ends) == (1, 1, 2, 1)


def test_pods_that_return_to_their_node_are_counted() -> None:
    found = [landing(node="a", ties=("a",)), landing(node="a", ties=("a", "b")), landing(node="b", ties=("b",))]

    assert landing_totals(found, is_verified=False).returns_to_source == 1


def test_verdict_on_all_together_comes_with_its_conditions_and_proof() -> None:
    together = JointVerdict(NO, (), NO, conditions=("the order",), certificate="3 pods need 4 GPUs, 2 are free")

    totals = landing_totals([landing()], is_verified=False, together=together)

    assert (totals.together, totals.conditions, totals.certificate) == (
        "no",
        ("the order",),
        "3 pods need 4 GPUs, 2 are free",
    )


def test_landing_in_short_has_no_node_where_none_is_expected() -> None:
    assert target_of(landing(NO)).node == ""
    assert target_of(landing(node="b")).node == "b"


def test_landing_has_both_clocks() -> None:
    planned = planned_landing(replace(landing(), cold=NO))

    assert (planned.verdict, planned.cold, planned.settled) == ("lands", "no", "lands")


def test_eviction_that_ends_a_job_is_said_in_the_words_of_its_owner() -> None:
    assert list(loss_notes([landing(), landing(NO, loss="Job sum fails"), None])) == ["Job sum fails"]


def test_several_evictions_that_end_jobs_are_counted_with_the_first_names() -> None:
    ends = [
        landing(NO, name=f"{job}-{number}", owner=f"Job/{job}", loss=f"Job {job} fails")
        for job in ("a", "b", "c", "d")
        for number in (1, 2)
    ]

    assert list(loss_notes(ends)) == [
        "8 evictions fail or end Jobs: default/a, default/b, default/c and 1 more; default/a: Job a fails"
    ]


def test_pod_without_controller_that_is_lost_is_named_itself() -> None:
    lost = [landing(NO, name=name, owner="", loss="it ends") for name in ("x", "y")]

    assert list(loss_notes(lost)) == ["2 evictions fail or end Jobs: default/x, default/y; default/x: it ends"]


def test_nothing_is_said_where_no_job_ends() -> None:
    assert list(loss_notes([landing(), None])) == []
