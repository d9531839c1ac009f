"""Jobs count evicted pods as failed ones: which limit they reach, and what comes after which back-off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.placement.replacements.answer import Ending, OwnerAnswer, OwnerEnd, Returns
from descheduler.placement.replacements.owners import Owners
from tests.builders import NOW, Object, ago, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import cluster_of, pod_named, workload_object

DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
_INDEX = "batch.kubernetes.io/job-completion-index"
_FAILURES = "batch.kubernetes.io/job-index-failure-count"


def member(name: str = "victim", index: int | None = None, failures: int = 0) -> Object:
    """A running pod of the Job `sum`."""
    labels = {} if index is None else {_INDEX: str(index)}
    return pod_object(name, owners=["Job/sum"], labels=labels, annotations={_FAILURES: str(failures)})


def job(status: Object | None = None, *, parallelism: int = 1, **spec: Any) -> Object:
    """The Job `sum`, which is to complete as many pods as it runs unless `spec` says otherwise."""
    facts: dict[str, Any] = {"completions": parallelism, **spec}
    return workload_object("Job/sum", replicas=parallelism, **facts) | {"status": status or {}}


def indexed(*, completions: int = 2, status: Object | None = None, **spec: Any) -> Object:
    """An Indexed Job with a limit of failures for each index."""
    return job(
        status,
        parallelism=2,
        completions=completions,
        completionMode="Indexed",
        **{"backoffLimitPerIndex": 0, **spec},
    )


def policy(action: str, **rule: object) -> Object:
    """A `podFailurePolicy` of one rule."""
    return {"podFailurePolicy": {"rules": [{"action": action, **(rule or DISRUPTED)}]}}


def failed(reason: str) -> OwnerEnd:
    return OwnerEnd("Failed", reason)


@pytest.mark.parametrize(
    ("status", "spec", "loss"),
    [
        pytest.param({}, {"backoffLimit": 0}, "backoffLimit: 0, 0 failed before", id="no failure allowed"),
        pytest.param({"failed": 6}, {}, "backoffLimit: 6, 6 failed before", id="used up, by default 6"),
        pytest.param(
            {"failed": 1, "uncountedTerminatedPods": {"failed": ["u"]}},
            {"backoffLimit": 2},
            "backoffLimit: 2, 2 failed before",
            id="a failure that is not counted yet",
        ),
    ],
)
def test_one_failure_too_many_fails_the_job(status: Object, spec: Object, loss: str) -> None:
    assert answer(member(), job(status, **spec)) == OwnerAnswer(
        Returns.OWNER_ENDS, loss=f"the eviction fails Job sum ({loss})", end=failed("BackoffLimitExceeded")
    )


def test_pod_comes_after_the_back_off_which_doubles_with_each_failure() -> None:
    made = answer(member(), job({"failed": 2}))

    assert (made.returns, made.delay_seconds, made.is_counted) == (Returns.LATER, 40, True)
    assert made.notes == (
        "Job sum creates the pod after a back-off of 40 s",
        "Job sum counts the eviction as a failure (3 of backoffLimit: 6)",
    )


@pytest.mark.parametrize(("replaced", "is_early"), [("TerminatingOrFailed", True), ("Failed", False)])
def test_pod_comes_beside_the_terminating_one_where_such_pods_are_replaced(replaced: str, is_early: bool) -> None:
    made = answer(member(), job(podReplacementPolicy=replaced))

    assert (made.returns, made.is_early) == (Returns.LATER, is_early)


def ended(name: str, phase: str, seconds: float) -> Object:
    """A pod of the Job `sum` that ended so long ago."""
    made = pod_object(name, owners=["Job/sum"], phase=phase, age=3600)
    made["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": ago(seconds)}]
    return made


@pytest.mark.parametrize(
    ("order", "seconds"),
    [
        pytest.param(("Failed", "Failed", "Succeeded"), 10, id="none"),
        pytest.param(("Failed", "Succeeded", "Failed"), 20, id="one"),
        pytest.param(("Succeeded", "Failed", "Failed"), 40, id="two"),
    ],
)
def test_failures_since_the_last_success_double_the_back_off(order: tuple[str, ...], seconds: int) -> None:
    pods = [ended(f"p{number}", phase, 600 - number) for number, phase in enumerate(order)]

    made = answer(member(), *pods, job({"failed": 2, "succeeded": 1}, completions=2))

    assert made.delay_seconds == seconds
    assert made.notes[0] == f"Job sum creates the pod after a back-off of {seconds} s"


@pytest.mark.parametrize("pods", [[], [ended("first", "Succeeded", 600), ended("second", "Failed", 700)]])
def test_back_off_may_be_longer_where_pods_that_failed_are_deleted(pods: list[Object]) -> None:
    made = answer(member(), *pods, job({"failed": 3, "succeeded": 1}, completions=2))

    assert made.delay_seconds == 10
    assert made.notes[0] == "Job sum creates the pod after a back-off of at least 10 s"


def test_pods_that_leave_together_share_one_back_off() -> None:
    made = answer(member(), member("other"), job(parallelism=2), gone=("other",))

    assert made.delay_seconds == 20
    assert made.conditions == (
        "Job sum loses another pod in this run, and creates none before its back-off of 20 s has passed",
    )


def test_pods_that_leave_as_one_bundle_come_together_after_the_back_off() -> None:
    snapshot = cluster_of(member(), member("other"), job(parallelism=2))
    victim, other = pod_named(snapshot, "victim"), pod_named(snapshot, "other")

    made = Owners(snapshot, NOW).answer(victim, [other], mates=[victim, other])

    assert (made.delay_seconds, made.conditions) == (20, ())


def test_pods_that_leave_together_fail_the_job_where_one_would_not() -> None:
    made = answer(member(), member("other"), job(parallelism=2, backoffLimit=1), gone=("other",))

    assert made.end == failed("BackoffLimitExceeded")


def test_ignored_failures_are_not_said_to_count() -> None:
    made = answer(member(), job(backoffLimit=0, **policy("Ignore")))

    assert (made.returns, made.is_counted, made.delay_seconds) == (Returns.LATER, False, 10)
    assert not any("backoffLimit" in note for note in made.notes)


@pytest.mark.parametrize(
    ("spec", "end"),
    [
        pytest.param(policy("FailJob"), failed("PodFailurePolicy"), id="by the condition of evicted pods"),
        pytest.param(
            policy("FailJob", onExitCodes={"operator": "NotIn", "values": [0]}),
            failed("PodFailurePolicy"),
            id="by the exit code of a process that is stopped",
        ),
        pytest.param(
            policy("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "False"}]),
            None,
            id="not by a condition that is false",
        ),
        pytest.param(policy("FailJob", onExitCodes={"operator": "In", "values": [1]}), None, id="not by another code"),
    ],
)
def test_failure_policy_may_end_the_job(spec: Object, end: OwnerEnd | None) -> None:
    assert answer(member(), job(**spec)).end == end


def test_first_rule_that_matches_decides() -> None:
    rules = [{"action": "Ignore", **DISRUPTED}, {"action": "FailJob", **DISRUPTED}]

    assert answer(member(), job(backoffLimit=0, podFailurePolicy={"rules": rules})).returns is Returns.LATER


def test_exit_code_0_is_a_success_where_only_finished_pods_are_replaced() -> None:
    made = answer(member(), job(podReplacementPolicy="Failed"), ending=Ending(0))

    assert made.end == OwnerEnd("Complete", "CompletionsReached")


def test_exit_code_0_is_a_failure_where_terminating_pods_are_replaced() -> None:
    assert answer(member(), job(backoffLimit=0), ending=Ending(0)).end == failed("BackoffLimitExceeded")


def test_pod_that_never_stops_is_neither_counted_nor_replaced_where_only_finished_pods_are() -> None:
    made = answer(member(), job(podReplacementPolicy="Failed", backoffLimit=0), ending=Ending(None, stops=False))

    assert (made.returns, made.end) == (Returns.NOT_CREATED, None)


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

    def test_failures_of_an_index_are_counted_by_its_pods(self) -> None:
        first, second = (
            answer(member(index=0, failures=failures), member("other", 1), indexed(backoffLimitPerIndex=1))
            for failures in (0, 1)
        )

        assert (first.returns, second.returns) == (Returns.LATER, Returns.OWNER_ENDS)

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
    ("status", "spec", "cause"),
    [
        pytest.param({}, {"suspend": True}, "Job sum is suspended (suspend: true)", id="suspended"),
        pytest.param({}, {"parallelism": 0}, "Job sum runs no pods (parallelism: 0)", id="no parallelism"),
        pytest.param(
            {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, {}, "Job sum is ending", id="ending"
        ),
        pytest.param({"conditions": [{"type": "Failed", "status": "True"}]}, {}, "Job sum has ended", id="ended"),
        pytest.param(
            {"startTime": ago(61)},
            {"activeDeadlineSeconds": 60},
            "Job sum has run for too long (activeDeadlineSeconds: 60)",
            id="deadline passed",
        ),
    ],
)
def test_job_that_is_done_or_paused_creates_nothing(status: Object, spec: Object, cause: str) -> None:
    made = answer(member(), job(status, **spec))

    assert (made.returns, made.cause, made.loss) == (Returns.NOT_CREATED, cause, "")


def test_deadline_that_passes_during_the_back_off_fails_the_job() -> None:
    made = answer(member(), job({"startTime": ago(55)}, activeDeadlineSeconds=60))

    assert made.end == failed("DeadlineExceeded")
    assert made.loss == "the eviction fails Job sum (activeDeadlineSeconds: 60, back-off: 10 s)"


def test_last_pod_of_a_work_queue_ends_the_job_once_one_has_succeeded() -> None:
    last = answer(member(), job({"succeeded": 1}, completions=None))
    other = answer(member(), member("other"), job({"succeeded": 1}, completions=None))

    assert last.end == OwnerEnd("Complete", "CompletionsReached")
    assert (other.returns, other.end) == (Returns.NOT_CREATED, None)


def test_job_of_another_controller_is_not_known() -> None:
    made = answer(member(), job(managedBy="kueue.x-k8s.io/multikueue", backoffLimit=0))

    assert made.doubt == "a controller other than Kubernetes' own manages the Job (managedBy)"


def test_nobody_knows_about_pods_beyond_the_parallelism() -> None:
    made = answer(member(), member("other"), job(parallelism=1, completions=4))

    assert made.doubt == "the Job has more pods than it is to run, and can delete others instead"


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
    pod = pod_object("victim", owners=["Job/sum"], annotations={_INDEX: text, _FAILURES: "0"})

    made = answer(pod, indexed())

    assert "fails index" not in made.loss


def test_failures_of_an_index_beyond_any_number_are_none() -> None:
    """Whoever may create pods writes their annotations."""
    pod = pod_object("victim", owners=["Job/sum"], labels={_INDEX: "0"}, annotations={_FAILURES: "9" * 5000})

    made = answer(pod, indexed(backoffLimitPerIndex=3))

    assert made.loss == ""


def test_failures_below_zero_are_none() -> None:
    made = answer(member(), job({"failed": -5}, backoffLimit=6))

    assert made.returns is not Returns.OWNER_ENDS
