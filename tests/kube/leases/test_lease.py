"""A Lease is taken, waited for, or respected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.lease import LeaseHeld, acquire
from descheduler.kube.leases.settings import LeaseSettings, own_namespace
from descheduler.kube.leases.store import LeaseSpec
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import ExchangeError
from tests.integration.fake_api import FakeApi, Request
from tests.integration.fake_leases import LEASES
from tests.integration.faults import Truncate, failure
from tests.kube.leases.runs import LEASE, NOW, SETTINGS, held_by, take
from tests.migration.stand_ins import Clock


def test_lease_that_is_not_there_is_created(fake_api: FakeApi, client: KubeClient) -> None:
    take(client)

    assert fake_api.leases.spec("repair") == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 60,
        "acquireTime": "2026-06-30T12:00:00.000000Z",
        "renewTime": "2026-06-30T12:00:00.000000Z",
        "leaseTransitions": 0,
    }


@pytest.mark.parametrize("seconds_ago", [0, 59, 69, -30], ids=["now", "just in time", "clocks apart", "clock ahead"])
def test_lease_of_a_live_run_is_respected(fake_api: FakeApi, client: KubeClient, seconds_ago: float) -> None:
    fake_api.leases.put("repair", **held_by("other", seconds_ago=seconds_ago))

    with pytest.raises(LeaseHeld, match="another run is active: other holds lease kube-system/repair"):
        take(client)

    assert fake_api.leases.spec("repair")["holderIdentity"] == "other"
    assert [request.method for request in fake_api.requests] == ["GET"]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(held_by("dead", seconds_ago=71), id="that died"),
        pytest.param(held_by("dead", seconds_ago=12, leaseDurationSeconds=1), id="with a shorter lease of its own"),
        pytest.param({"leaseDurationSeconds": 1, "leaseTransitions": 4}, id="that gave it back"),
        pytest.param(held_by("", seconds_ago=1), id="that gave it back as older clients do"),
        pytest.param({"holderIdentity": "x", "leaseTransitions": 4}, id="that never renewed"),
        pytest.param(
            {"holderIdentity": "x", "renewTime": "soon", "leaseTransitions": 4}, id="whose time is unreadable"
        ),
    ],
)
def test_lease_of_a_run_is_taken_over(fake_api: FakeApi, client: KubeClient, spec: dict[str, Any]) -> None:
    fake_api.leases.put("repair", **spec)

    take(client)

    taken = fake_api.leases.objects["kube-system", "repair"]
    assert taken["metadata"]["labels"] == {"kept": "yes"}
    assert taken["spec"]["holderIdentity"] == "me"
    assert taken["spec"]["leaseTransitions"] == 5


AGES = [
    pytest.param({"renewTime": "9999-12-31T23:59:59.999999Z"}, id="renewed in the year 9999"),
    pytest.param({"renewTime": "9999-12-31T23:59:59.999999-14:00"}, id="renewed after the year 9999"),
    pytest.param({"renewTime": "2027-01-01T00:00:00.000000Z"}, id="renewed half a year ahead"),
    pytest.param({"leaseDurationSeconds": 2**31 - 1}, id="that lasts for 68 years"),
    pytest.param({"renewTime": "9999-12-31T23:59:59.999999Z", "leaseDurationSeconds": 2**31 - 1}, id="of both kinds"),
]


@pytest.mark.parametrize("spec", AGES)
def test_lease_whose_times_cannot_be_true_is_watched_and_taken_over(
    fake_api: FakeApi, client: KubeClient, spec: dict[str, Any]
) -> None:
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=0, **spec))
    clock = Clock()

    take_patiently(client, clock)

    assert clock.now() == pytest.approx(60)
    assert fake_api.leases.spec("repair")["holderIdentity"] == "me"
    assert fake_api.leases.spec("repair")["leaseTransitions"] == 5


@pytest.mark.parametrize("spec", AGES)
def test_lease_whose_times_cannot_be_true_is_respected_when_it_is_renewed(
    fake_api: FakeApi, client: KubeClient, spec: dict[str, Any]
) -> None:
    fake_api.leases.put("repair", **held_by("other", seconds_ago=0, **spec))
    clock = Clock()

    def renew() -> None:
        fake_api.leases.spec("repair")["renewTime"] = "9998-01-01T00:00:00.000000Z"

    clock.on_sleep = renew

    with pytest.raises(LeaseHeld, match="another run is active: other holds lease kube-system/repair"):
        take_patiently(client, clock)

    assert clock.now() < 60


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"renewTime": "0001-01-01T00:00:00.000000Z"}, id="renewed in the year 1"),
        pytest.param({"renewTime": "0001-01-01T00:00:00.000000+14:00"}, id="renewed before the year 1"),
        pytest.param({"leaseDurationSeconds": -(2**31)}, id="of a negative duration"),
    ],
)
def test_lease_that_ran_out_long_ago_is_taken_over_at_once(
    fake_api: FakeApi, client: KubeClient, spec: dict[str, Any]
) -> None:
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=12, **spec))

    take(client)

    assert fake_api.leases.spec("repair")["holderIdentity"] == "me"


def test_watching_a_lease_ends_with_the_run(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=-1000))
    clock = Clock()

    def check() -> None:
        if clock.now() > 10:
            raise ExchangeError("time is over")

    with pytest.raises(ExchangeError, match="time is over"):
        take_patiently(client, clock, check=check)

    assert fake_api.leases.spec("repair")["holderIdentity"] == "dead"


def take_patiently(
    client: KubeClient,
    clock: Clock,
    check: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda text: None,
) -> HeldLease:
    """Takes the lease with waits that pass on `clock`."""
    retry = RetryPolicy(sleep=clock.sleep)
    return acquire(
        client, SETTINGS, retry=retry, identity="me", now=lambda: NOW, clock=clock.now, check=check, tell=tell
    )


@pytest.mark.parametrize(
    ("holder", "shown"),
    [
        ("a\nerror: all is lost\x1b[2J", r"a\nerror: all is lost\x1b[2J"),
        ("x" * 1_000_000, "x" * 100 + "..."),
    ],
    ids=["of several lines", "of a megabyte"],
)
def test_name_of_a_holder_stays_on_one_line(fake_api: FakeApi, client: KubeClient, holder: str, shown: str) -> None:
    fake_api.leases.put("repair", **held_by(holder, seconds_ago=0))

    with pytest.raises(LeaseHeld) as raised:
        take(client)

    assert str(raised.value) == (
        f"another run is active: {shown} holds lease kube-system/repair and renewed it at "
        "2026-06-30T12:00:00.000000Z; nothing was done (if that run is dead, its lease can be taken over 70 s later)"
    )


def test_only_one_of_two_runs_takes_a_dead_runs_lease(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=100))

    def overtake(request: Request) -> None:
        if request.method == "PUT":
            fake_api.leases.put("repair", **held_by("faster", seconds_ago=0))

    fake_api.on_request = overtake

    with pytest.raises(LeaseHeld, match="faster holds"):
        take(client)


def test_only_one_of_two_runs_creates_the_lease(fake_api: FakeApi, client: KubeClient) -> None:
    def overtake(request: Request) -> None:
        if request.method == "POST":
            fake_api.leases.put("repair", **held_by("faster", seconds_ago=0))

    fake_api.on_request = overtake

    with pytest.raises(LeaseHeld, match="faster holds"):
        take(client)


def test_lease_that_keeps_changing_counts_as_held(fake_api: FakeApi, client: KubeClient) -> None:
    def relabel(request: Request) -> None:
        if request.method == "PUT":
            fake_api.leases.put("repair", **held_by("dead", seconds_ago=100))

    fake_api.on_request = relabel
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=100))

    with pytest.raises(LeaseHeld, match="is being taken by other runs"):
        take(client)


def test_lease_whose_answer_was_lost_is_found_to_be_held(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("POST", LEASES, Truncate())

    take(client)

    assert [request.method for request in fake_api.requests] == ["GET", "POST", "GET"]


def test_missing_right_names_the_rule_to_add(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", LEASE, failure(403, "Forbidden", "leases is forbidden"))

    with pytest.raises(ApiError) as raised:
        take(client)

    assert str(raised.value).splitlines() == [
        "not allowed to get lease kube-system/repair (RBAC), which prevents two runs at the same time; add these rules "
        "to a Role in namespace kube-system, or run with --no-lease:",
        "- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}",
        "- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [repair], verbs: [get, update]}",
    ]


def test_missing_namespace_is_named(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("POST", LEASES, failure(404, "NotFound", 'namespaces "kube-system" not found'))

    with pytest.raises(ApiError, match='namespaces "kube-system" not found; choose a namespace with --lease-namespace'):
        take(client)


def test_lease_without_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="duration_seconds is 0, at least 1 is needed"):
        LeaseSettings("kube-system", "repair", 0)
    assert LeaseSettings("kube-system", "repair", 1).duration_seconds == 1


def test_time_without_a_zone_is_utc() -> None:
    spec = LeaseSpec("x", 10, renew_time="2026-06-30T12:00:00")

    assert spec.renewed_seconds == NOW.timestamp()


def test_own_namespace_is_that_of_the_pod_else_kube_system(tmp_path: Path) -> None:
    file = tmp_path / "namespace"
    file.write_text("tools\n")

    assert own_namespace(file) == "tools"
    assert own_namespace(tmp_path / "none") == "kube-system"


def test_watching_a_lease_is_told_when_it_begins(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.leases.put("repair", **held_by("dead", seconds_ago=-1000))
    told: list[str] = []

    take_patiently(client, Clock(), tell=told.append)

    assert told == ["Lease is held by dead with a renewTime that is not valid; watching it for 60 s"]
