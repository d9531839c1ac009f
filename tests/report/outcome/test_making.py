from __future__ import annotations

import re
from typing import get_args

from msgspec.structs import replace

from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.plan.outcome import Outcome as ExecutedEviction
from descheduler.plan.outcome import OutcomeKind
from descheduler.report.document import PodReference
from descheduler.report.formats.render import render
from descheduler.report.outcome.document import EvictionResult, NotAttempted, ResultKind
from descheduler.report.outcome.predictions import Predictions
from tests.builders import make_pod
from tests.report.outcomes import EVICTED, FAILED, GONE, TOO_LATE, outcome_of


def test_the_document_knows_every_way_an_eviction_can_end() -> None:
    kinds = {kind.value for kind in OutcomeKind if kind is not OutcomeKind.UNSET}

    assert kinds == set(get_args(ResultKind))


def test_each_eviction_has_its_result() -> None:
    outcome = outcome_of(EVICTED)

    assert outcome.results == (
        EvictionResult(
            pod=PodReference(namespace="default", name="old-1", uid="default-old-1"),
            node="a",
            target=None,
            landed_on="",
            profile="main",
            plugin="PodLifeTime",
            reason="runs for too long",
            result="evicted",
            code="done",
            message="",
            status_code=201,
            num_attempts=1,
            job="",
            check="",
            subject="",
        ),
    )


def test_results_are_counted_and_kinds_that_did_not_occur_are_zero() -> None:
    outcome = outcome_of(EVICTED, FAILED, GONE)

    assert outcome.counts == {
        "evicted": 1,
        "gone": 1,
        "refused": 0,
        "background": 0,
        "failed": 1,
        "not-attempted": 0,
    }


def test_table_shows_what_became_of_each_eviction() -> None:
    text = "".join(render(outcome_of(EVICTED, FAILED), "table"))

    assert "PodLifeTime: 1 pod evicted" in text
    assert re.search(r"^default +old-1 +a +- +runs for too long$", text, re.MULTILINE)
    assert "Planned but not evicted: 1 pod" in text
    assert re.search(r"^default +old-2 +a +PodLifeTime +failed +boom$", text, re.MULTILINE)
    assert "\n1 pod evicted, 1 failed\n" in text


def test_the_summary_says_what_was_left_and_why() -> None:
    text = "".join(render(outcome_of(EVICTED, TOO_LATE), "table"))

    assert "1 pod evicted, 1 not attempted" in text
    assert re.search(r"^Not attempted: +1 pod \(--deadline exceeded\)$", text, re.MULTILINE)


def test_figures_are_of_the_pods_that_were_evicted() -> None:
    """The plan is to evict three pods; its own figures say so, and those of the outcome do not."""
    outcome = outcome_of(EVICTED, FAILED, TOO_LATE)

    assert outcome.plan.figures.total.displaced.pods == 3
    assert outcome.figures.total.displaced.pods == 1
    assert outcome.landings.num_evicted == 1


def test_what_was_not_attempted_is_counted_by_cause() -> None:
    outcome = outcome_of(EVICTED, TOO_LATE, TOO_LATE)

    assert outcome.not_attempted == (NotAttempted(code="deadline", message="--deadline exceeded", count=2),)


def test_sums_agree() -> None:
    """Of results, of kinds, of plugins, of landings and of figures."""
    outcome = outcome_of(EVICTED, FAILED, TOO_LATE)

    num_evicted = outcome.counts["evicted"]
    assert sum(outcome.counts.values()) == len(outcome.results)
    assert sum(left.count for left in outcome.not_attempted) == outcome.counts["not-attempted"]
    assert sum(plugin.counts["evicted"] for plugin in outcome.plugins) == num_evicted
    assert outcome.landings.num_evicted == outcome.figures.total.displaced.pods == num_evicted


def seen_on(node: str, *, predicted: str, ties: tuple[str, ...] = ()) -> ExecutedEviction:
    lands = LandingVerdict.LANDS
    pod = make_pod("old-1")
    landing = Landing(
        pod, Replacement(pod, OwnerAnswer(Returns.AT_ONCE), pod, "template"), lands, lands, predicted, ties=ties
    )
    return replace(EVICTED, eviction=replace(EVICTED.eviction, landing=landing), landed_on=node)


def test_outcome_says_how_many_replacements_came_where_they_were_expected() -> None:
    outcome = outcome_of(seen_on("b", predicted="b"), seen_on("c", predicted="b"), seen_on("", predicted="b"))

    assert outcome.predictions == Predictions(as_predicted=1, tied=0, elsewhere=1, not_seen=1, hit_rate=0.5)
    assert [result.landed_on for result in outcome.results] == ["b", "c", ""]


def test_table_shows_where_replacements_came() -> None:
    text = "".join(render(outcome_of(seen_on("c", predicted="b")), "table"))

    assert re.search(r"^NAMESPACE +POD +NODE +TARGET +NEW NODE +REASON$", text, re.MULTILINE)
    assert re.search(r"^Scheduled: +0 of 1 on the predicted node \(0%\)$", text, re.MULTILINE)


def test_node_that_ranks_as_high_as_the_predicted_one_is_no_miss() -> None:
    outcome = outcome_of(seen_on("b", predicted="b"), seen_on("c", predicted="b", ties=("b", "c")))

    assert outcome.predictions == Predictions(as_predicted=1, tied=1, elsewhere=0, not_seen=0, hit_rate=1.0)
    assert "2 of 2 on the predicted node or one that ranks as high (100%)" in "".join(render(outcome, "table"))


def test_table_has_no_column_for_new_nodes_where_nobody_looked() -> None:
    text = "".join(render(outcome_of(seen_on("", predicted="b")), "table"))

    assert "NEW NODE" not in text
    assert "Scheduled:" not in text
