"""objectLimiters within one run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.eviction.migration_controller.args import MigrationControllerArgs, MigrationObjectLimiter, default_args
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.model.groups.workloads import Workload
from descheduler.model.verdict import Reason
from tests.builders import make_pod, make_snapshot


def make_limiter(limiters: dict[str, MigrationObjectLimiter] | None = None, **args: Any) -> ObjectLimiter:
    """Limiters over a cluster with ReplicaSet `web` of five replicas."""
    given = msgspec.structs.replace(msgspec.convert(args, MigrationControllerArgs), object_limiters=limiters or {})
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 5)
    return ObjectLimiter(default_args(given), make_snapshot(workloads={web.uid: web}))


def make_rate(minutes: int = 5, **facts: Any) -> MigrationObjectLimiter:
    """One limiter."""
    return MigrationObjectLimiter(duration=timedelta(minutes=minutes), **facts)


@pytest.mark.parametrize(
    ("limiters", "num_allowed"),
    [
        pytest.param({}, 1, id="one of a workload by default"),
        pytest.param({"workload": make_rate(burst=2)}, 2, id="as many as the burst"),
        pytest.param({"workload": make_rate(burst="40%")}, 2, id="a share of the replicas"),
        pytest.param({"workload": make_rate(burst="1%")}, 1, id="and at least one"),
        pytest.param({"workload": make_rate(0)}, 9, id="no limit without a duration"),
        pytest.param({"namespace": make_rate(max_migrating=3)}, 1, id="one of a namespace with a number"),
        pytest.param({"namespace": make_rate(max_migrating="30%")}, 9, id="a percentage of a namespace is no limit"),
        pytest.param({"namespace": make_rate()}, 9, id="nor is an unset number"),
    ],
)
def test_evictions_that_one_run_may_start(limiters: dict[str, MigrationObjectLimiter], num_allowed: int) -> None:
    limiter = make_limiter(limiters)
    allowed = 0

    for number in range(9):
        pod = make_pod(f"p{number}")
        if limiter.verdict(pod).is_accepted:
            limiter.count(pod)
            allowed += 1

    assert allowed == num_allowed


def test_full_workload_is_named() -> None:
    limiter, pod = make_limiter(), make_pod("p")
    limiter.count(pod)

    verdict = limiter.verdict(make_pod("q"))

    assert verdict.reason is Reason.MIGRATING_LIMIT
    assert verdict.subject == "ReplicaSet web"
    assert verdict.message == "objectLimiters.workload.burst (1 in each run) reached for ReplicaSet web"


@pytest.mark.parametrize(
    "owners", [pytest.param((), id="a bare pod"), pytest.param(("Job/etl",), id="a pod of an unknown workload")]
)
def test_pod_without_known_workload_is_not_limited(owners: tuple[str, ...]) -> None:
    limiter, pod = make_limiter(), make_pod("p", owners=owners)
    limiter.count(pod)

    assert limiter.verdict(pod).is_accepted
