"""A Lease that is held: renewed, lost, given back."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.leases.held_lease import Claim, believable_seconds, shown_holder, weigh_claim
from descheduler.kube.leases.lease import LeaseHeld, acquire, give_back
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.leases.store import LeaseSpec, micro_time
from descheduler.transport.answer import RawResponse
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, Drop, Silence, Truncate, failure
from tests.kube.leases.runs import LEASE, NOW, SETTINGS, held_by, take
from tests.migration.stand_ins import Clock


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
    lease = acquire(
        cast(KubeClient, api), SETTINGS, retry=client.retry, identity="me", now=lambda: NOW, clock=clock.now
    )
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


NOON = datetime(2026, 6, 30, 12, tzinfo=UTC)


def spec(renewed_seconds_ago: float | None = 0, *, holder: str | None = "x", duration: int | None = 60) -> LeaseSpec:
    renewed = None if renewed_seconds_ago is None else micro_time(NOON - timedelta(seconds=renewed_seconds_ago))
    return LeaseSpec(holder, duration, renewed, renewed, 0)


@pytest.mark.parametrize(
    ("found", "claim"),
    [
        pytest.param(spec(holder=None), Claim.FREE, id="no holder"),
        pytest.param(spec(holder=""), Claim.FREE, id="an empty holder"),
        pytest.param(spec(None), Claim.FREE, id="no renewal"),
        pytest.param(spec(69.9), Claim.HELD, id="within the duration and the allowance for clocks"),
        pytest.param(spec(70), Claim.FREE, id="at their end"),
        pytest.param(spec(-70), Claim.HELD, id="ahead by no more"),
        pytest.param(spec(-70.1), Claim.DOUBTFUL, id="ahead by more"),
        pytest.param(spec(9.9, duration=None), Claim.HELD, id="no duration, within the allowance"),
        pytest.param(spec(10, duration=None), Claim.FREE, id="no duration, behind the allowance"),
        pytest.param(spec(9.9, duration=-5), Claim.HELD, id="a duration below zero, within the allowance"),
        pytest.param(spec(10, duration=-5), Claim.FREE, id="a duration below zero, behind the allowance"),
        pytest.param(spec(80_000, duration=86_400), Claim.HELD, id="a day"),
        pytest.param(spec(0, duration=86_401), Claim.DOUBTFUL, id="more than a day"),
        pytest.param(spec(70, duration=86_401), Claim.FREE, id="more than a day, not renewed in the time of this run"),
    ],
)
def test_claim_is_that_of_times_which_can_be_true(found: LeaseSpec, claim: Claim) -> None:
    assert weigh_claim(found, NOON, 60) is claim


@pytest.mark.parametrize(
    ("duration", "own", "seconds"),
    [(30, 60, 30), (86_400, 60, 86_400), (86_401, 60, 60), (90_000, 90_000, 90_000), (90_001, 90_000, 90_000),
     (None, 60, 0), (-1, 60, 0)],
)  # fmt: skip
def test_duration_of_more_than_a_day_is_not_meant_unless_it_is_that_of_this_run(
    duration: int | None, own: int, seconds: int
) -> None:
    assert believable_seconds(spec(duration=duration), own) == seconds


@pytest.mark.parametrize(("text", "shown"), [(None, "an unnamed holder"), ("", "an unnamed holder"), ("a\nb", "a\\nb")])
def test_holder_is_shown_on_one_line(text: str | None, shown: str) -> None:
    assert shown_holder(text) == shown
