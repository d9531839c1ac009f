"""Indexed Jobs count failures by index: which index fails, and when the Job fails with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.placement.replacements.answer import OwnerEnd, Returns
from tests.builders import Object, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.replacements.controllers.jobs import FAILURES, INDEX, indexed, member, policy


def failed(reason: str) -> OwnerEnd:
    return OwnerEnd("Failed", reason)


class TestIndexes:
    """Limits of failures for each index."""

    def test_index_fails_and_the_others_go_on(self) -> None:
        made = answer(member(index=0), member("other", 1), indexed())

        assert (made.returns, made.end, made.failed_index) == (Returns.OWNER_ENDS, None, 0)
        assert made.loss == "the eviction fails index 0 of Job sum (backoffLimitPerIndex: 0)"

    def test_last_index_fails_the_job(self) -> None:
        made = answer(member(index=0), indexed(status={"completedIndexes": "1"}))

        assert made.end == failed("FailedIndexes")

    def test_as_many_failed_indexes_as_the_job_allows_do_not_fail_it(self) -> None:
        made = answer(member(index=0), member("other", 1), indexed(completions=3, maxFailedIndexes=1))

        assert (made.end, made.failed_index) == (None, 0)

    @pytest.mark.parametrize(("most", "gone"), [(0, ()), (1, ("other",))])
    def test_too_many_failed_indexes_fail_the_job(self, most: int, gone: tuple[str, ...]) -> None:
        pods = member(index=0), member("other", 1), member("third", 2)

        made = answer(*pods, indexed(completions=3, maxFailedIndexes=most), gone=gone)

        assert made.end == failed("MaxFailedIndexesExceeded")

    def test_index_that_fails_by_a_rule_counts_as_one_of_those_that_may_fail(self) -> None:
        rule = {"backoffLimitPerIndex": 3, "maxFailedIndexes": 0, **policy("FailIndex")}

        made = answer(member(index=0), member("other", 1), indexed(completions=3, **rule))

        assert made.end == failed("MaxFailedIndexesExceeded")

    @pytest.mark.parametrize("other", [member("other", 1), member("other")], ids=["within its limit", "unreadable"])
    def test_index_of_another_pod_that_leaves_and_does_not_fail_is_not_counted(self, other: Object) -> None:
        facts: Any = {"completions": 3, "maxFailedIndexes": 1, "backoffLimitPerIndex": 1}

        made = answer(member(index=0, failures=1), other, indexed(**facts), gone=("other",))

        assert (made.end, made.failed_index) == (None, 0)

    def test_failures_of_an_index_are_counted_by_its_pods(self) -> None:
        first, second = (
            answer(member(index=0, failures=failures), member("other", 1), indexed(backoffLimitPerIndex=1))
            for failures in (0, 1)
        )

        assert (first.returns, second.returns) == (Returns.LATER, Returns.OWNER_ENDS)
        assert first.notes[1] == "Job sum counts the eviction as a failure (1 of backoffLimitPerIndex: 1)"

    def test_failure_that_a_rule_ignores_is_not_said_to_count(self) -> None:
        made = answer(member(index=0), member("other", 1), indexed(backoffLimitPerIndex=1, **policy("Ignore")))

        assert not any("counts the eviction" in note for note in made.notes)

    def test_index_has_a_back_off_of_its_own(self) -> None:
        made = answer(member(index=0), member("other", 1), indexed(backoffLimitPerIndex=1), gone=("other",))

        assert (made.delay_seconds, made.conditions) == (10, ())

    def test_rule_may_fail_the_index(self) -> None:
        made = answer(member(index=0), member("other", 1), indexed(backoffLimitPerIndex=3, **policy("FailIndex")))

        assert made.loss == "the eviction fails index 0 of Job sum (podFailurePolicy: FailIndex)"

    @pytest.mark.parametrize(
        "spec",
        [
            pytest.param({"backoffLimitPerIndex": 0}, id="by the limit of the index"),
            pytest.param({"backoffLimitPerIndex": 3, **policy("FailIndex")}, id="by a rule"),
        ],
    )
    def test_failure_of_an_index_counts_against_the_limit_of_the_job(self, spec: Object) -> None:
        status: Object = {"failed": 1}

        made = answer(member(index=0), member("other", 1), indexed(status=status, backoffLimit=1, **spec))

        assert made.end == failed("BackoffLimitExceeded")

    def test_index_is_also_told_by_the_name_of_the_pod(self) -> None:
        pod = pod_object("sum-0-x7k2p", owners=["Job/sum"])

        assert answer(pod, member("other", 1), indexed(), of="sum-0-x7k2p").failed_index == 0

    def test_index_beyond_the_completions_is_not_created(self) -> None:
        made = answer(member(index=2), indexed(backoffLimitPerIndex=None))

        assert made.cause == "Job sum has no index 2 (completions: 2)"


@pytest.mark.parametrize(
    ("indexes", "is_surplus"),
    [
        pytest.param((0, 1), False, id="as many as are to run"),
        pytest.param((0, 1, 2), False, id="and one that the Job does not want"),
        pytest.param((0, 0, 1), True, id="one too many"),
    ],
)
def test_pods_of_indexes_that_the_job_has_not_are_beyond_no_parallelism(
    indexes: Sequence[int], is_surplus: bool
) -> None:
    pods = [member(f"p{place}", index) for place, index in enumerate(indexes)]

    made = answer(*pods, indexed(backoffLimitPerIndex=3), of="p0")

    assert bool(made.doubt) is is_surplus


@pytest.mark.parametrize("text", ["x", "-1", "9" * 5000])
def test_pod_whose_index_nobody_can_read_fails_no_index(text: str) -> None:
    pod = pod_object("victim", owners=["Job/sum"], annotations={INDEX: text, FAILURES: "0"})

    made = answer(pod, indexed())

    assert "fails index" not in made.loss


def test_failures_of_an_index_beyond_any_number_are_none() -> None:
    """Whoever may create pods writes their annotations."""
    pod = pod_object("victim", owners=["Job/sum"], labels={INDEX: "0"}, annotations={FAILURES: "9" * 5000})

    made = answer(pod, indexed(backoffLimitPerIndex=3))

    assert made.loss == ""
