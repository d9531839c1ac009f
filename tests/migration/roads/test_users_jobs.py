"""Which jobs of users may evict their pods now, and what is told of all of them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.errors import ApiError
from descheduler.migration.roads.users_jobs import (
    JudgedJob,
    judge_jobs,
    left_job,
    num_moved,
    runs_koord_descheduler,
    users_jobs,
)
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, PASSED_ARBITRATION_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.builders import NOW, ago, make_node, make_pod, make_snapshot
from tests.migration.stand_ins import make_eviction

NODES = [make_node("n1"), make_node("n2")]
PASSED = {PASSED_ARBITRATION_ANNOTATION: "true"}


def pod(name: str, node: str = "n1", **facts: Any) -> Pod:
    """A pod of a workload of its own."""
    return make_pod(name, namespace="shop", uid=name, node=node, owners=[f"ReplicaSet/{name}"], **facts)


def job(name: str, *, of: str = "", phase: str = "Pending", **facts: Any) -> MigrationJob:
    """A user's job for the pod of this name, which the job has itself by default."""
    return replace(MigrationJob(name, phase, "shop", of or name, "", uid=f"job-{name}"), **facts)


def judged(
    *jobs: MigrationJob,
    pods: tuple[Pod, ...] = (),
    others: tuple[MigrationJob, ...] = (),
    limits: RunLimits | None = None,
    scope: Scope = EVERYWHERE,
) -> dict[str, tuple[OutcomeCode | None, bool]]:
    """By name of a job, why nothing is evicted for it, and whether its pod is to leave."""
    found = pods or tuple(pod(name) for name in dict.fromkeys(each.pod_name for each in jobs))
    owners = {owner.name: owner.uid for each in found for owner in each.owners}
    workloads = {uid: Workload("ReplicaSet", "shop", name, uid, 5) for name, uid in owners.items()}
    snapshot = make_snapshot(NODES, found, migration_jobs=(*jobs, *others), workloads=workloads)
    made = judge_jobs(jobs, snapshot, MigrationControllerArgs(), limits or RunLimits(), scope=scope, now=NOW)
    return {each.decision.job.name: (each.code, each.may_evict) for each in made}


GOES, WAITS, LIMIT = (None, True), (OutcomeCode.JOB_WAITS, False), (OutcomeCode.LIMIT, False)


def test_each_job_for_a_pod_that_may_leave_goes() -> None:
    running = job("c", phase="Running", annotations=PASSED)

    assert judged(job("a"), job("b", phase=""), running) == {"a": GOES, "b": GOES, "c": GOES}


def test_limit_of_the_run_counts_those_before() -> None:
    a, b = job("a", created_at=NOW), job("b", created_at=NOW - timedelta(minutes=1))

    assert judged(a, b, limits=RunLimits(total=1)) == {"a": GOES, "b": LIMIT}
    assert judged(a, b, limits=RunLimits(total=2)) == {"a": GOES, "b": GOES}
    assert judged(a, b, pods=(pod("a"), pod("b", "n2")), limits=RunLimits(per_node=1)) == {"a": GOES, "b": GOES}


def test_job_for_a_pod_out_of_the_scope_of_the_run_waits() -> None:
    assert judged(job("a"), scope=Scope(frozenset({"other"}))) == {"a": WAITS}


def test_of_several_jobs_for_one_pod_the_first_goes() -> None:
    first, second = job("one", of="a", created_at=NOW), job("two", of="a", created_at=NOW - timedelta(minutes=1))

    assert judged(first, second) == {"one": GOES, "two": WAITS}


def test_pod_that_another_program_s_job_moves_is_left_to_that() -> None:
    claimed = {CREATED_BY_ANNOTATION: "another", **PASSED}
    other = job("theirs", of="a", phase="Running", pod_uid="a", annotations=claimed)
    unclear = replace(other, pod_uid="")
    waiting = replace(other, phase="Pending", annotations={CREATED_BY_ANNOTATION: "another"})

    assert judged(job("a"), others=(other,)) == {"a": WAITS}
    assert judged(job("a"), others=(waiting,)) == {"a": GOES}
    assert judged(job("a"), job("b"), others=(unclear,))["b"] == GOES


def test_paused_job_is_passed_over() -> None:
    assert judged(job("a", is_paused=True), job("b")) == {"b": GOES}


def test_job_that_waits_for_others_of_its_workload_waits() -> None:
    """The controller lets two pods of five migrate at a time."""
    alike = tuple(make_pod(name, namespace="shop", uid=name, node="n1") for name in ("a", "b", "c"))

    codes = judged(job("a"), job("b"), job("c"), pods=alike)

    assert sorted(codes.values(), key=str) == [WAITS, GOES, GOES]


def test_job_for_a_pod_that_is_protected_or_gone_evicts_nothing() -> None:
    bare = make_pod("a", namespace="shop", uid="a", node="n1", owners=())

    assert judged(job("a"), pods=(bare,)) == {"a": (OutcomeCode.PROTECTED, False)}
    assert judged(job("a"), pods=(pod("other"),)) == {"a": (None, False)}


def decided(outcome: JobOutcome = JobOutcome.STARTED, code: OutcomeCode | None = None) -> JudgedJob:
    verdict = refuse(Reason.OUT_OF_SCOPE, "why", "subject")
    return JudgedJob(JobDecision(job("a", pod_uid="a"), outcome, pod("a")), code, verdict)


@pytest.mark.parametrize(
    ("given", "may_evict", "waits"),
    [
        (decided(), True, False),
        (decided(JobOutcome.MISSING), False, False),
        (decided(code=OutcomeCode.LIMIT), False, True),
        (decided(code=OutcomeCode.JOB_WAITS), False, True),
        (decided(JobOutcome.REFUSED, OutcomeCode.PROTECTED), False, False),
    ],
)
def test_pod_leaves_for_a_job_that_was_admitted(given: JudgedJob, *, may_evict: bool, waits: bool) -> None:
    assert (given.may_evict, given.waits) == (may_evict, waits)


def test_job_that_is_left_says_why() -> None:
    as_judged = left_job(decided(code=OutcomeCode.LIMIT), "p")
    otherwise = left_job(decided(code=OutcomeCode.LIMIT), "p", OutcomeCode.JOB_DELETED, "gone")
    unjudged = left_job(decided(), "p", why="later")

    assert (as_judged.code, as_judged.message, as_judged.subject) == (OutcomeCode.LIMIT, "why", "subject")
    assert (otherwise.code, otherwise.message, otherwise.subject) == (OutcomeCode.JOB_DELETED, "gone", "")
    assert (unjudged.code, unjudged.message, unjudged.kind) == (
        OutcomeCode.JOB_WAITS,
        "later",
        OutcomeKind.NOT_ATTEMPTED,
    )


def outcome(kind: OutcomeKind, code: OutcomeCode) -> Outcome:
    return Outcome(make_eviction("a"), kind, code, "")


MOVED = outcome(OutcomeKind.EVICTED, OutcomeCode.DONE)
REFUSED = outcome(OutcomeKind.REFUSED, OutcomeCode.BUDGET)


def test_jobs_of_users_are_counted() -> None:
    limited = decided(code=OutcomeCode.LIMIT)
    going = [(decided(), MOVED), (decided(), REFUSED), (decided(JobOutcome.MISSING), MOVED)]

    made = users_jobs([limited, *(each for each, _ in going)], going, [left_job(limited, "p")], "p")

    assert (made.num_started, made.num_succeeded, made.num_limited, made.limit) == (2, 1, 1, "why")
    assert [each.code for each in made.outcomes] == [
        OutcomeCode.DONE,
        OutcomeCode.BUDGET,
        OutcomeCode.POD_GONE,  # this run did not evict it
        OutcomeCode.LIMIT,
    ]
    assert [move.pod.name for move in made.evicted] == ["a"]


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (OutcomeCode.DONE, 1),
        (OutcomeCode.MISSED_ROOM, 1),
        (OutcomeCode.RESERVATION_UNUSED, 1),
        (OutcomeCode.ROOM_TAKEN, 0),
        (OutcomeCode.NOT_REPLACED, 0),
    ],
)
def test_job_has_succeeded_where_the_replacement_serves(code: OutcomeCode, number: int) -> None:
    assert num_moved([outcome(OutcomeKind.EVICTED, code)]) == number


class Leases:
    """Answers each look at a Lease with this."""

    def __init__(self, answer: dict[str, Any] | Exception | None) -> None:
        self._answer = answer

    def read(self, path: str, decode: Any) -> Any:
        """The Lease, as it is decoded."""
        assert path.endswith("/koordinator-system/leases/koord-descheduler")
        if isinstance(self._answer, Exception):
            raise self._answer
        return None if self._answer is None else decode(json.dumps({"spec": self._answer}).encode())


HELD = {"holderIdentity": "h", "renewTime": ago(15), "leaseDurationSeconds": 15}


@pytest.mark.parametrize(
    ("lease", "runs"),
    [
        pytest.param(None, False, id="there is none"),
        pytest.param(HELD, True, id="it is held until now"),
        pytest.param({**HELD, "renewTime": ago(16)}, False, id="its time is over"),
        pytest.param({**HELD, "holderIdentity": ""}, False, id="nobody holds it"),
        pytest.param({**HELD, "holderIdentity": None}, False, id="its holder is null"),
        pytest.param({**HELD, "renewTime": None}, False, id="it was never renewed"),
        pytest.param({**HELD, "leaseDurationSeconds": None}, False, id="its duration is null"),
        pytest.param({**HELD, "renewTime": ago(0), "leaseDurationSeconds": None}, True, id="renewed right now"),
        pytest.param(ApiError("no", status_code=403, reason="Forbidden"), None, id="it may not be read"),
    ],
)
def test_koord_descheduler_runs_while_somebody_holds_its_lease(lease: Any, *, runs: bool | None) -> None:
    assert runs_koord_descheduler(cast(Any, Leases(lease)), NOW) is runs


def test_lease_that_cannot_be_read_for_another_reason_is_an_error() -> None:
    with pytest.raises(ApiError, match="down"):
        runs_koord_descheduler(cast(Any, Leases(ApiError("down", status_code=500, reason="InternalError"))), NOW)
