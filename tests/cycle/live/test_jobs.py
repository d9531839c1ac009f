"""What operators are told of jobs: of those of earlier runs, of users, and of what is left in the cluster."""

from __future__ import annotations

from typing import cast

import pytest

from descheduler.cycle.live.jobs import (
    JobPlan,
    left_notes,
    num_unused,
    plan_jobs,
    take_up_notes,
    taken_up,
    unused_notes,
    users_notes,
)
from descheduler.cycle.plugins import REGISTRY
from descheduler.kube.discovery import discover
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.migration.roads.adoption import Adopted
from descheduler.migration.roads.users_jobs import UsersJobs
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.shard import Shard
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.policy.load import load_policy
from descheduler.report.outcome.status_document import NOTHING_TAKEN_UP, TakenUp
from descheduler.transport.errors import ExchangeError
from tests.living.builders import living_cluster, priority_class
from tests.migration.stand_ins import make_eviction
from tests.policy.builders import koordinator

JOB = cast(MigrationJob, None)
"""Jobs are only counted."""
DESCRIBE = "more PodMigrationJobs of users: kubectl describe podmigrationjobs"


def outcome(code: OutcomeCode, message: str = "", kind: OutcomeKind = OutcomeKind.NOT_ATTEMPTED) -> Outcome:
    return Outcome(make_eviction("web"), kind, code, message)


FAILED = outcome(OutcomeCode.PROTECTED, "it is protected")


@pytest.mark.parametrize(
    ("adopted", "notes"),
    [
        pytest.param(Adopted(), [], id="nothing"),
        pytest.param(
            Adopted(unfinished=(JOB, JOB), num_finished=1),
            ["found 2 migrations under way; 1 succeeded"],
            id="under way",
        ),
        pytest.param(
            Adopted(undone=(JOB,)), ["undid 1 migration of which an earlier run had evicted no pod"], id="undone"
        ),
        pytest.param(
            Adopted(swept=("a", "b")), ["removed 2 reservations that an earlier run had left behind"], id="removed"
        ),
        pytest.param(
            Adopted(broken=("a is broken",)), ["PodMigrationJob a is broken; it has failed by that"], id="broken"
        ),
        pytest.param(Adopted(notes=("left alone",)), ["left alone"], id="left alone"),
        pytest.param(Adopted(notes=("a",) * 5), ["a"] * 5, id="a few"),
        pytest.param(
            Adopted(notes=("a",) * 6),
            [*["a"] * 5, "1 more objects only look like those of this program, or could not be removed"],
            id="many",
        ),
        pytest.param(
            Adopted(broken=("a",) * 1006),
            [
                *["PodMigrationJob a; it has failed by that"] * 5,
                "1,001 more PodMigrationJobs of users failed as invalid",
            ],
            id="very many",
        ),
    ],
)
def test_what_earlier_runs_have_left_is_told(adopted: Adopted, notes: list[str]) -> None:
    assert list(take_up_notes(adopted)) == notes


def test_what_earlier_runs_have_left_is_counted() -> None:
    adopted = Adopted(unfinished=(JOB,) * 3, undone=(JOB,), swept=("a", "b"), num_finished=2)

    assert taken_up(adopted) == TakenUp(finished=2, undone=1, removed=2, of_users=0)
    assert taken_up(None) is NOTHING_TAKEN_UP


@pytest.mark.parametrize(
    ("jobs", "notes"),
    [
        pytest.param(UsersJobs(), [], id="none"),
        pytest.param(
            UsersJobs(num_started=2, num_succeeded=1),
            ["started 2 PodMigrationJobs of users; 1 succeeded"],
            id="started",
        ),
        pytest.param(
            UsersJobs(num_limited=1, limit="maxNoOfPodsToEvictTotal (1) reached"),
            ["left 1 PodMigrationJob of users to the next run: maxNoOfPodsToEvictTotal (1) reached"],
            id="limited",
        ),
        pytest.param(
            UsersJobs(num_left=1),
            [
                "left 1 PodMigrationJob of users to koord-descheduler: it runs, or there is no right to get its Lease "
                "koordinator-system/koord-descheduler"
            ],
            id="left to another program",
        ),
        pytest.param(
            UsersJobs(outcomes=(FAILED,)),
            ["PodMigrationJob of a user: pod shop/web not evicted: it is protected"],
            id="not evicted",
        ),
        pytest.param(
            UsersJobs(outcomes=(outcome(OutcomeCode.NOT_REPLACED, "no node", OutcomeKind.EVICTED),)),
            ["PodMigrationJob of a user: pod shop/web evicted: no node"],
            id="evicted, with something to say",
        ),
        pytest.param(
            UsersJobs(outcomes=(outcome(OutcomeCode.DONE, kind=OutcomeKind.EVICTED),)), [], id="nothing to say"
        ),
        pytest.param(UsersJobs(outcomes=(outcome(OutcomeCode.LIMIT, "reached"),)), [], id="limits are told above"),
        pytest.param(
            UsersJobs(outcomes=(FAILED,) * 5),
            ["PodMigrationJob of a user: pod shop/web not evicted: it is protected"] * 5,
            id="a few",
        ),
        pytest.param(
            UsersJobs(outcomes=(FAILED,) * 1006),
            [*["PodMigrationJob of a user: pod shop/web not evicted: it is protected"] * 5, f"1,001 {DESCRIBE}"],
            id="very many",
        ),
    ],
)
def test_what_became_of_users_jobs_is_told(jobs: UsersJobs, notes: list[str]) -> None:
    assert list(users_notes(jobs)) == notes


@pytest.mark.parametrize(
    ("number", "more"), [(0, []), (5, []), (7, ["2 more jobs may be left in the cluster; the next run removes them"])]
)
def test_what_may_be_left_is_told_up_to_a_number(number: int, more: list[str]) -> None:
    assert list(left_notes(["a"] * number)) == [*["a"] * min(number, 5), *more]


def test_reservations_that_were_not_used_are_counted_and_told() -> None:
    used = outcome(OutcomeCode.DONE, kind=OutcomeKind.EVICTED)
    unused = outcome(OutcomeCode.RESERVATION_UNUSED, kind=OutcomeKind.EVICTED)

    assert num_unused([used, unused, unused]) == 2
    assert unused_notes(0) == ()
    assert unused_notes(2)[0].startswith("Replacement pods did not use 2 Reservations on their nodes: ")


def planned(args: str, *, name: str = "d", has_koordinator: bool = True) -> JobPlan:
    """Which profiles use jobs under a Lease of this name, in a cluster with the PriorityClass of placeholders."""
    cluster = living_cluster(
        1, (), [priority_class("descheduler-placeholder", -1)], settle_seconds=0, has_koordinator=has_koordinator
    )
    policy = load_policy(
        koordinator(f"profiles: [{{name: p, pluginConfig: [{{name: MigrationController, args: {{{args}}}}}]}}]\n"),
        REGISTRY,
    )
    client = cluster.client()
    return plan_jobs(policy, client, discover(client), LeaseSettings("kube-system", name))


@pytest.mark.parametrize(
    ("args", "has_koordinator", "uses_jobs", "in_objects"),
    [
        pytest.param("reservationProvider: koordinator", True, True, True, id="Reservations"),
        pytest.param("reservationProvider: placeholder", True, True, True, id="placeholders"),
        pytest.param("reservationProvider: placeholder", False, True, False, id="placeholders without Koordinator"),
        pytest.param("reservationProvider: none", False, False, False, id="no room, and no jobs"),
        pytest.param("reservationProvider: koordinator, dryRun: true", True, False, True, id="a dry profile"),
    ],
)
def test_profiles_use_jobs_where_these_can_be_kept(
    args: str, has_koordinator: bool, uses_jobs: bool, in_objects: bool
) -> None:
    found = planned(args, has_koordinator=has_koordinator)

    assert set(found.profiles) == ({"p"} if uses_jobs else set())
    assert (found.storage.in_objects, len(found.notes)) == (in_objects, 1)


def test_reservations_that_the_cluster_does_not_have_are_an_error() -> None:
    with pytest.raises(ExchangeError):
        planned("reservationProvider: koordinator", has_koordinator=False)


def test_placeholders_need_their_priority_class() -> None:
    policy = load_policy(
        koordinator(
            "profiles: [{name: p, pluginConfig: "
            "[{name: MigrationController, args: {reservationProvider: placeholder}}]}]\n"
        ),
        REGISTRY,
    )
    client = living_cluster(1, settle_seconds=0).client()

    with pytest.raises(ExchangeError, match="descheduler-placeholder"):
        plan_jobs(policy, client, discover(client), LeaseSettings("kube-system", "d"))


@pytest.mark.parametrize(("length", "is_whole"), [(51, True), (52, False), (200, False)])
def test_owner_of_jobs_is_named_as_far_as_a_label_goes(length: int, is_whole: bool) -> None:
    """With the namespace and the dot between, 51 letters make 63 characters."""
    name = "d" * length

    owner = planned("reservationProvider: koordinator", name=name).storage.owner

    assert (owner == f"{name}.kube-system") is is_whole
    assert len(owner) <= 63
    assert owner != planned("reservationProvider: koordinator", name=f"{name}e").storage.owner


def test_jobs_of_a_policy_without_a_lease_are_named_after_its_profiles() -> None:
    policy = load_policy(koordinator("profiles: [{name: p}]\n"), REGISTRY)
    client = living_cluster(1, settle_seconds=0).client()

    storages = [plan_jobs(policy, client, discover(client), None, shard).storage for shard in (Shard(), Shard(1, 2))]

    assert [storage.owner.partition(".")[0] for storage in storages] == ["descheduler-p", "descheduler-p-shard-1"]
    assert [storage.is_first_shard for storage in storages] == [True, False]
