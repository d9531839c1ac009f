from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError, KubeError
from descheduler.kube.http.status import RawResponse
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.lease import LeaseHeld, acquire, give_back
from descheduler.kube.leases.settings import LeaseSettings, own_namespace
from descheduler.kube.leases.store import LeaseSpec, micro_time
from descheduler.kube.retry import RetryPolicy
from tests.integration.fake_api import FakeApi, Request
from tests.integration.fake_leases import LEASES
from tests.integration.faults import Answer, Drop, Silence, Truncate, failure
from tests.migration.stand_ins import Clock

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
LEASE = f"{LEASES}/repair"
SETTINGS = LeaseSettings("kube-system", "repair", duration_seconds=60)


def take(
    client: KubeClient, *, me: str = "me", clock: Clock | None = None, settings: LeaseSettings = SETTINGS
) -> HeldLease:
    clock = clock or Clock()
    return acquire(client, settings, retry=client.retry, identity=me, now=lambda: NOW, clock=clock.now)


def held_by(holder: str, *, seconds_ago: float, **spec: Any) -> dict[str, Any]:
    """A lease of 60 seconds that its holder renewed so long ago."""
    renewed = micro_time(NOW - timedelta(seconds=seconds_ago))
    usual = {"acquireTime": renewed, "leaseDurationSeconds": 60, "leaseTransitions": 4}
    return {"holderIdentity": holder, "renewTime": renewed, **usual, **spec}


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
            raise KubeError("time is over")

    with pytest.raises(KubeError, match="time is over"):
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
        "2026-06-30T12:00:00.000000Z; nothing was done"
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


def test_renewing_moves_only_the_renew_time(fake_api: FakeApi, client: KubeClient) -> None:
    lease = take(client)
    before = fake_api.leases.spec("repair") | {"renewTime": ""}

    lease.renew()

    assert lease.loss == ""
    assert fake_api.leases.spec("repair") | {"renewTime": ""} == before
    assert [request.method for request in fake_api.requests] == ["GET", "POST", "PUT"]


def test_lease_that_somebody_labelled_is_still_held(fake_api: FakeApi, client: KubeClient) -> None:
    lease = take(client)
    fake_api.leases.put("repair", **fake_api.leases.spec("repair"))

    lease.renew()

    assert lease.loss == ""
    assert fake_api.leases.objects["kube-system", "repair"]["metadata"]["labels"] == {"kept": "yes"}


def test_renewal_whose_answer_was_lost_is_found_to_have_worked(fake_api: FakeApi, client: KubeClient) -> None:
    lease = take(client, settings=LeaseSettings("kube-system", "repair", 60, renew_seconds=0.0))
    fake_api.fail_next("PUT", LEASE, Truncate())

    lease.renew()

    assert lease.loss == ""
    assert [request.method for request in fake_api.sent("PUT")] == ["PUT", "PUT", "PUT"]


def test_lease_in_other_hands_is_lost_and_stops_the_run(fake_api: FakeApi, client: KubeClient) -> None:
    stop = threading.Event()
    lease = take(client).stopping(stop)
    fake_api.leases.put("repair", **held_by("other", seconds_ago=0))

    lease.renew()
    lease.release()

    assert lease.loss == "lease kube-system/repair was taken over by other"
    assert stop.is_set()
    assert fake_api.leases.spec("repair")["holderIdentity"] == "other"


def test_deleted_lease_is_lost(fake_api: FakeApi, client: KubeClient) -> None:
    lease = take(client)
    fake_api.leases.objects.clear()

    lease.renew()

    assert lease.loss == "lease kube-system/repair was deleted"
    assert fake_api.leases.objects == {}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(failure(403, "Forbidden", "no more"), id="no right"),
        pytest.param(failure(401, "Unauthorized", "who"), id="no credentials"),
        pytest.param(failure(500, "x", "no", retry_after_seconds=10**400), id="a number that no clock knows"),
    ],
)
def test_refusal_of_one_renewal_is_waited_out(fake_api: FakeApi, client: KubeClient, fault: Answer) -> None:
    lease = take(client, settings=LeaseSettings("kube-system", "repair", 60, renew_seconds=0.0))
    fake_api.fail_next("PUT", LEASE, fault)

    lease.renew()

    assert lease.loss == ""
    assert len(fake_api.sent("PUT")) == 2


def test_lease_that_cannot_be_renewed_in_time_is_lost(fake_api: FakeApi, client: KubeClient) -> None:
    clock = Clock()
    lease = take(client, clock=clock)
    fake_api.fail_always("PUT", LEASE, Drop())
    fake_api.on_request = lambda request: clock.sleep(40)

    lease.renew()

    assert lease.loss.startswith("lease kube-system/repair could not be renewed for 40 s: PUT")


class _Hanging:
    """An API that answers the creation of a lease, and then nothing until it is let go."""

    host = "http://hanging"

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def send(self, method: str, path: str, *, body: bytes | None = None, max_bytes: int = 0) -> RawResponse:
        if method == "GET":
            return RawResponse(404, "Not Found", {}, b"")
        if method == "PUT":
            self.let_go.wait(timeout=30)
        return RawResponse(201, "Created", {}, body or b"")


def test_server_that_hangs_costs_the_lease_and_not_the_run(client: KubeClient) -> None:
    api = _Hanging()
    clock = Clock()
    lease = acquire(api, SETTINGS, retry=client.retry, identity="me", now=lambda: NOW, clock=clock.now)
    clock.sleep(40)

    lease.renew()
    api.let_go.set()

    assert lease.loss == "lease kube-system/repair could not be renewed for 40 s: no answer came"


def test_lease_is_given_back_at_the_end(fake_api: FakeApi, client: KubeClient) -> None:
    with take(client):
        pass

    spec = fake_api.leases.spec("repair")
    assert "holderIdentity" not in spec
    assert (spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (1, 0)
    take(client, me="next")
    assert fake_api.leases.spec("repair")["holderIdentity"] == "next"


def test_lease_is_left_to_run_out_when_no_call_can_take_effect_any_more(fake_api: FakeApi, client: KubeClient) -> None:
    with take(client) as lease:
        lease.find_open_seconds = lambda: 12.3

    assert fake_api.leases.spec("repair") == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 13,
        "acquireTime": "2026-06-30T12:00:00.000000Z",
        "renewTime": "2026-06-30T12:00:00.000000Z",
        "leaseTransitions": 0,
    }
    with pytest.raises(LeaseHeld):
        take(client, me="next")


def test_lease_that_cannot_be_given_back_fails_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("PUT", LEASE, Drop())

    with take(client) as lease:
        pass

    assert lease.loss == ""


def test_lease_that_is_renewed_in_time_is_current(client: KubeClient) -> None:
    clock = Clock()
    lease = take(client, clock=clock)

    clock.sleep(39)

    assert lease.why_not_current() == ""


def test_lease_of_a_run_that_was_suspended_is_lost_before_it_is_looked_at(client: KubeClient) -> None:
    clock, stop = Clock(), threading.Event()
    lease = take(client, clock=clock).stopping(stop)

    clock.sleep(40)

    assert lease.why_not_current() == lease.loss == "lease kube-system/repair was not renewed for 40 s"
    assert stop.is_set()


def test_wall_clock_bears_witness_of_a_suspension_that_the_other_clock_missed(client: KubeClient) -> None:
    now = [NOW]
    lease = acquire(client, SETTINGS, retry=client.retry, now=lambda: now[0], clock=Clock().now)

    now[0] += timedelta(minutes=5)

    assert lease.why_not_current() == "lease kube-system/repair was not renewed for 300 s"


def test_lease_is_given_back_although_a_renewal_hangs(fake_api: FakeApi, client: KubeClient) -> None:
    settings = LeaseSettings("kube-system", "repair", renew_seconds=0.01)
    fake_api.fail_next("PUT", LEASE, Silence())
    is_renewing = threading.Event()
    fake_api.on_request = lambda request: is_renewing.set() if request.method == "PUT" else None

    with take(client, settings=settings):
        assert is_renewing.wait(30)

    assert "holderIdentity" not in fake_api.leases.spec("repair")


@pytest.mark.parametrize(("holder", "after"), [("me", None), ("other", "other")])
def test_only_ones_own_lease_is_given_back(
    fake_api: FakeApi, client: KubeClient, holder: str, after: str | None
) -> None:
    fake_api.leases.put("repair", **held_by(holder, seconds_ago=0))

    give_back(client, SETTINGS, "me", timeout_seconds=30)

    assert fake_api.leases.spec("repair").get("holderIdentity") == after


def test_renewal_is_due_after_a_third_and_lost_after_two() -> None:
    assert (SETTINGS.period_seconds, SETTINGS.patience_seconds) == (20, 40)


def test_lease_without_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="duration_seconds is 0, at least 1 is needed"):
        LeaseSettings("kube-system", "repair", 0)


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
