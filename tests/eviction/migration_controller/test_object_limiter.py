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
from descheduler.plan.moves import Move
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


@pytest.mark.parametrize(
    ("limiters", "left"),
    [
        pytest.param({}, [("objectLimiters.workload.burst (1)", 1)], id="by default"),
        pytest.param(
            {"workload": make_rate(burst="40%"), "namespace": make_rate(max_migrating=3, burst=4)},
            [("objectLimiters.workload.burst (40%)", 2), ("objectLimiters.namespace.burst (4)", 4)],
            id="of a workload and of a namespace",
        ),
        pytest.param(
            {"namespace": make_rate(max_migrating=3)}, [("objectLimiters.namespace.burst (1)", 1)], id="unset"
        ),
        pytest.param({"namespace": make_rate(max_migrating="30%")}, [], id="a percentage of a namespace is no limit"),
        pytest.param({"namespace": make_rate(max_migrating=0)}, [], id="nor is 0"),
        pytest.param({"workload": make_rate(0)}, [], id="nor is a limiter without a duration"),
    ],
)
def test_what_is_left_is_told_by_name(limiters: dict[str, MigrationObjectLimiter], left: list[tuple[str, int]]) -> None:
    limiter, pod = make_limiter(limiters), make_pod("q")

    def found() -> list[tuple[str, int]]:
        keys = [(each, each.key_of(pod)) for each in limiter.allowances()]
        return [(each.name_of(key), each.left(key)) for each, key in keys if key is not None]

    before = found()
    undo = limiter.count(make_pod("p"))
    during = found()
    undo()

    assert before == found() == left
    assert during == [(name, number - 1) for name, number in left]


def test_pods_of_other_workloads_and_namespaces_are_counted_apart() -> None:
    limiter = make_limiter({"workload": make_rate(), "namespace": make_rate(max_migrating=1, burst=2)})
    limiter.adopt([Move(make_pod("p"), "p", "q")])

    verdicts = [
        limiter.verdict(pod).subject
        for pod in (
            make_pod("same"),
            make_pod("other", owners=["ReplicaSet/gone"]),
            make_pod("elsewhere", owners=["ReplicaSet/gone"], namespace="shop"),
        )
    ]
    limiter.count(make_pod("other", owners=["ReplicaSet/gone"]))

    assert verdicts == ["ReplicaSet web", "", ""]
    assert limiter.verdict(make_pod("third", owners=["Job/etl"])).subject == "namespace default"
