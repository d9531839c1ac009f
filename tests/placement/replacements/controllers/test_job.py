"""Jobs count evicted pods as failed ones: which limit they reach, and what comes after which back-off."""

from __future__ import annotations

import pytest

from descheduler.placement.replacements.answer import Ending, OwnerAnswer, OwnerEnd, Returns
from descheduler.placement.replacements.owners import Owners
from tests.builders import NOW, Object, ago
from tests.placement.replacements.controllers.answers import answer
from tests.placement.replacements.controllers.jobs import (
    DISRUPTED,
    ended,
    indexed,
    job,
    member,
    policy,
)
from tests.placement.workloads import cluster_of, pod_named


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


def test_last_failure_that_the_limit_allows_is_still_replaced() -> None:
    made = answer(member(), job({"failed": 5}))

    assert made.notes[1] == "Job sum counts the eviction as a failure (6 of backoffLimit: 6)"


@pytest.mark.parametrize(("replaced", "is_early"), [("TerminatingOrFailed", True), ("Failed", False)])
def test_pod_comes_beside_the_terminating_one_where_such_pods_are_replaced(replaced: str, is_early: bool) -> None:
    made = answer(member(), job(podReplacementPolicy=replaced))

    assert (made.returns, made.is_early) == (Returns.LATER, is_early)


@pytest.mark.parametrize(
    ("order", "seconds"),
    [
        pytest.param(("Failed", "Failed", "Succeeded"), 10, id="none"),
        pytest.param(("Failed", "Succeeded", "Failed"), 20, id="one"),
        pytest.param(("Succeeded", "Failed", "Failed"), 40, id="two"),
        pytest.param(("Succeeded", *["Failed"] * 6), 600, id="so many that it grows no more"),
    ],
)
def test_failures_since_the_last_success_double_the_back_off(order: tuple[str, ...], seconds: int) -> None:
    pods = [ended(f"p{number}", phase, 600 - number) for number, phase in enumerate(order)]

    status: Object = {"failed": order.count("Failed"), "succeeded": 1}
    made = answer(member(), *pods, job(status, completions=2, backoffLimit=9))

    assert made.delay_seconds == seconds
    assert made.notes[0] == f"Job sum creates the pod after a back-off of {seconds} s"


@pytest.mark.parametrize("pods", [[], [ended("first", "Succeeded", 600), ended("second", "Failed", 700)]])
def test_back_off_may_be_longer_where_pods_that_failed_are_deleted(pods: list[Object]) -> None:
    made = answer(member(), *pods, job({"failed": 3, "succeeded": 1}, completions=2))

    assert made.delay_seconds == 10
    assert made.notes[0] == "Job sum creates the pod after a back-off of at least 10 s"


def test_failure_at_the_moment_of_a_success_is_none_since_it() -> None:
    pods = [ended("first", "Succeeded", 600), ended("second", "Failed", 600)]

    assert answer(member(), *pods, job({"failed": 1, "succeeded": 1}, completions=2)).delay_seconds == 10


def test_longest_back_off_is_no_longer_where_pods_that_failed_are_deleted() -> None:
    pods = [ended("p", "Succeeded", 600), *(ended(f"p{number}", "Failed", 500 - number) for number in range(6))]

    made = answer(member(), *pods, job({"failed": 8, "succeeded": 1}, completions=2, backoffLimit=9))

    assert made.notes[0] == "Job sum creates the pod after a back-off of 600 s"


def test_pods_that_leave_together_share_one_back_off() -> None:
    made = answer(member(), member("other"), job(parallelism=2), gone=("other",))

    assert made.delay_seconds == 20
    assert made.conditions == (
        "Job sum loses another pod in this run, and creates none before its back-off of 20 s has passed",
    )
    assert made.notes[1] == "Job sum counts the eviction as a failure (2 of backoffLimit: 6)"


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


@pytest.mark.parametrize(
    ("condition", "status", "end"),
    [
        pytest.param("ConfigIssue", "True", failed("PodFailurePolicy"), id="one that the pod has"),
        pytest.param("ConfigIssue", "False", None, id="not by its opposite"),
        pytest.param("DisruptionTarget", "False", None, id="not by what the eviction overwrites"),
    ],
)
def test_failure_policy_looks_at_the_conditions_of_the_pod(condition: str, status: str, end: OwnerEnd | None) -> None:
    victim = member()
    has = (("ConfigIssue", "True"), ("DisruptionTarget", "False"))
    victim["status"]["conditions"] = [{"type": kind, "status": value} for kind, value in has]
    rule = policy("FailJob", onPodConditions=[{"type": condition, "status": status}])

    assert answer(victim, job(**rule)).end == end


def test_first_rule_that_matches_decides() -> None:
    rules = [{"action": "Ignore", **DISRUPTED}, {"action": "FailJob", **DISRUPTED}]

    assert answer(member(), job(backoffLimit=0, podFailurePolicy={"rules": rules})).returns is Returns.LATER


@pytest.mark.parametrize(
    ("num_succeeded", "completions", "others", "is_complete"),
    [
        pytest.param(0, 1, [], True, id="the only completion"),
        pytest.param(1, 2, [], True, id="the last completion"),
        pytest.param(0, 2, [], False, id="one of two"),
        pytest.param(0, None, [], True, id="the last pod of a work queue"),
        pytest.param(0, None, [member("other")], False, id="a pod of a work queue with others"),
    ],
)
def test_exit_code_0_is_a_success_where_only_finished_pods_are_replaced(
    num_succeeded: int, completions: int | None, others: list[Object], is_complete: bool
) -> None:
    replaced = job({"succeeded": num_succeeded}, completions=completions, podReplacementPolicy="Failed")

    made = answer(member(), *others, replaced, ending=Ending(0))

    assert made.returns is Returns.OWNER_ENDS
    assert made.end == (OwnerEnd("Complete", "CompletionsReached") if is_complete else None)


def test_exit_code_0_is_a_failure_where_terminating_pods_are_replaced() -> None:
    assert answer(member(), job(backoffLimit=0), ending=Ending(0)).end == failed("BackoffLimitExceeded")


def test_pod_that_never_stops_is_neither_counted_nor_replaced_where_only_finished_pods_are() -> None:
    made = answer(member(), job(podReplacementPolicy="Failed", backoffLimit=0), ending=Ending(None, stops=False))

    assert (made.returns, made.end) == (Returns.NOT_CREATED, None)


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
            {"startTime": ago(60)},
            {"activeDeadlineSeconds": 60},
            "Job sum has run for too long (activeDeadlineSeconds: 60)",
            id="deadline passed",
        ),
    ],
)
def test_job_that_is_done_or_paused_creates_nothing(status: Object, spec: Object, cause: str) -> None:
    made = answer(member(), job(status, **spec))

    assert (made.returns, made.cause, made.loss) == (Returns.NOT_CREATED, cause, "")


@pytest.mark.parametrize(
    ("status", "spec"),
    [
        pytest.param({"startTime": ago(49)}, {"activeDeadlineSeconds": 60}, id="after the back-off"),
        pytest.param({"startTime": ago(999)}, {}, id="none"),
        pytest.param({}, {"activeDeadlineSeconds": 60}, id="of a Job that has not started"),
    ],
)
def test_pod_comes_before_the_deadline_of_its_job(status: Object, spec: Object) -> None:
    assert answer(member(), job(status, **spec)).returns is Returns.LATER


@pytest.mark.parametrize("seconds", [50, 55])
def test_deadline_that_passes_during_the_back_off_fails_the_job(seconds: int) -> None:
    made = answer(member(), job({"startTime": ago(seconds)}, activeDeadlineSeconds=60))

    assert made.end == failed("DeadlineExceeded")
    assert made.loss == "the eviction fails Job sum (activeDeadlineSeconds: 60, back-off: 10 s)"


@pytest.mark.parametrize(
    ("status", "pods"),
    [
        pytest.param({"succeeded": 1}, [], id="by its status"),
        pytest.param({}, [ended("done", "Succeeded", 5)], id="by its pods"),
    ],
)
def test_last_pod_of_a_work_queue_ends_the_job_once_one_has_succeeded(status: Object, pods: list[Object]) -> None:
    last = answer(member(), *pods, job(status, completions=None))
    other = answer(member(), member("other"), *pods, job(status, completions=None))

    assert last.end == OwnerEnd("Complete", "CompletionsReached")
    assert (other.returns, other.end) == (Returns.NOT_CREATED, None)


@pytest.mark.parametrize("pods", [[], [ended("failed", "Failed", 5)]], ids=["none has ended", "one has failed"])
def test_work_queue_replaces_its_pods_while_none_has_succeeded(pods: list[Object]) -> None:
    assert answer(member(), *pods, job({}, completions=None)).returns is Returns.LATER


def test_job_of_another_controller_is_not_known() -> None:
    made = answer(member(), job(managedBy="kueue.x-k8s.io/multikueue", backoffLimit=0))

    assert made.doubt == "a controller other than Kubernetes' own manages the Job (managedBy)"


@pytest.mark.parametrize(("parallelism", "is_surplus"), [(2, True), (3, False)])
def test_pods_that_leave_together_are_all_to_come_again(parallelism: int, is_surplus: bool) -> None:
    pods = [member(), member("other"), member("third")]

    found = answer(*pods, job(parallelism=parallelism, completions=9), gone=("other",))

    assert bool(found.doubt) is is_surplus


@pytest.mark.parametrize(
    ("made", "is_surplus"),
    [
        pytest.param(job(parallelism=1, completions=4), True, id="parallelism"),
        pytest.param(job(parallelism=1, completions=None), True, id="parallelism of a work queue"),
        pytest.param(job(parallelism=2, completions=None), False, id="as many as a work queue is to run"),
        pytest.param(job({"succeeded": 3}, parallelism=3, completions=4), True, id="one completion is left"),
        pytest.param(job({"succeeded": 2}, parallelism=3, completions=4), False, id="two completions are left"),
        pytest.param(indexed(status={"completedIndexes": "2"}, completions=3), False, id="two indexes are left"),
        pytest.param(indexed(status={"completedIndexes": "1-2"}, completions=3), True, id="one index is left"),
    ],
)
def test_nobody_knows_which_of_more_pods_stay_than_the_job_is_to_run(made: Object, is_surplus: bool) -> None:
    made["spec"]["backoffLimitPerIndex"] = None

    found = answer(member(index=0), member("other", 1), made)

    doubt = "the Job has more pods than it is to run, and can delete others instead"
    assert found.doubt == (doubt if is_surplus else "")


def test_failures_below_zero_are_none() -> None:
    made = answer(member(), job({"failed": -5}, backoffLimit=6))

    assert made.returns is not Returns.OWNER_ENDS
