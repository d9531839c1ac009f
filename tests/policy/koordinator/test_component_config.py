"""Lease, client and addresses of a DeschedulerConfiguration: what is taken, up to the last value that works."""

from __future__ import annotations

import pytest

from tests.policy.builders import koordinator, load, messages

LEASE = "leaderElection: {%s}\n"


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        pytest.param("renewDeadline: 10s, retryPeriod: 8s", "", id="time enough for a retry"),
        pytest.param(
            "renewDeadline: 12s, retryPeriod: 10s",
            "renewDeadline: is not above 1.2 times retryPeriod; leave time for a retry",
            id="a deadline of just 1.2 periods",
        ),
        pytest.param("leaseDuration: 10001ms", "", id="a lease that is longer than its renewal"),
        pytest.param(
            "leaseDuration: 10s",
            "leaseDuration: is not above renewDeadline; the Lease would expire while renewed",
            id="a lease as long as its renewal",
        ),
        pytest.param("retryPeriod: 1ms", "", id="a short period"),
        pytest.param("retryPeriod: -1s", "retryPeriod: -1s is not above 0", id="a negative period"),
        pytest.param("leaderElect: false, retryPeriod: -1s, leaseDuration: 1s", "", id="no Lease at all"),
        pytest.param("leaderElect: true, retryPeriod: -1s", "retryPeriod: -1s is not above 0", id="a Lease as said"),
    ],
)
def test_times_of_a_lease_have_to_work_together(settings: str, fault: str) -> None:
    found = messages(koordinator(LEASE % settings))

    assert [message.partition("leaderElection.")[2] for message in found] == ([fault] if fault else [])


def test_lease_is_held_unless_the_document_says_no() -> None:
    written = ("{}", "{leaderElect: true}", "{leaderElect: false}")
    settings = [load(koordinator(f"leaderElection: {text}\n")).leader_election for text in written]

    assert [each and each.leader_elect for each in settings] == [True, True, False]


def test_settings_of_a_lease_are_completed_one_by_one() -> None:
    settings = load(koordinator(LEASE % "leaseDuration: 1m, resourceName: mine")).leader_election

    assert settings is not None
    assert (settings.lease_duration.total_seconds(), settings.renew_deadline.total_seconds()) == (60, 10)
    assert (settings.resource_name, settings.resource_namespace) == ("mine", "koordinator-system")


@pytest.mark.parametrize(
    ("address", "read"),
    [
        pytest.param("host:80", "host:80", id="a host"),
        pytest.param("a-b.c:65535", "a-b.c:65535", id="the highest port"),
        pytest.param("host:0", "host:0", id="any port"),
        pytest.param("'[fe80::1]:80'", "[fe80::1]:80", id="an IPv6 address in brackets"),
        pytest.param("null", "0.0.0.0:10251", id="none"),
        pytest.param("host:65536", None, id="a port that is too high"),
        pytest.param("host", None, id="no port"),
        pytest.param("'host:'", None, id="an empty port"),
        pytest.param("host:http", None, id="a service"),
        pytest.param("'host:８０'", None, id="digits of another script"),
        pytest.param("'a b:80'", None, id="a blank"),
        pytest.param("-a:80", None, id="a dash first"),
        pytest.param("a-:80", None, id="a dash last"),
        pytest.param("'[fe80::1:80'", None, id="a bracket that is not closed"),
        pytest.param("'fe80::1]:80'", None, id="a bracket that is not opened"),
        pytest.param("'[host]:80'", None, id="a host name in brackets"),
        pytest.param(f"{'a' * 253}:80", f"{'a' * 253}:80", id="the longest name"),
        pytest.param(f"{'a' * 254}:80", None, id="a longer name"),
    ],
)
def test_address_is_a_host_and_a_port(address: str, read: str | None) -> None:
    text = koordinator(f"healthzBindAddress: {address}\n")

    if read is None:
        assert len(messages(text)) == 1
    else:
        assert load(text).healthz_bind_address == read


@pytest.mark.parametrize(("qps", "burst", "read"), [(0, 0, (50.0, 100)), (1.5, 1, (1.5, 1)), (-1, 7, (-1.0, 7))])
def test_client_has_koordinators_rates_unless_others_are_given(qps: float, burst: int, read: tuple[float, int]) -> None:
    policy = load(koordinator(f"clientConnection: {{qps: {qps}, burst: {burst}}}\n"))

    assert (policy.client_qps, policy.client_burst) == read
