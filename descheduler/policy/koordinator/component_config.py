"""Settings that a DeschedulerConfiguration shares with other Kubernetes components: client, lease and addresses.

Defaults and rules are those of `k8s.io/component-base/config` and of koordinator-sh/koordinator 1.8
`pkg/descheduler/apis/config/v1alpha2/defaults.go`.
"""

from __future__ import annotations

import ipaddress
import re
from datetime import timedelta

from descheduler.documents.decode import Path
from descheduler.documents.problems import shown
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, Int32
from descheduler.policy.types import LeaderElection

_DEFAULT_HOST, _DEFAULT_PORT = "0.0.0.0", 10251  # noqa: S104 - Koordinator's documented default
_JITTER = 1.2
"""The renew deadline must exceed the retry period by this factor, or a slow answer loses the lease."""
DEFAULT_LEADER_ELECTION = LeaderElection(
    leader_elect=True,
    lease_duration=timedelta(seconds=15),
    renew_deadline=timedelta(seconds=10),
    retry_period=timedelta(seconds=2),
    resource_lock="leases",
    resource_name="koord-descheduler",
    resource_namespace="koordinator-system",
)
"""What a document without these settings gets."""
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\Z")


class ClientConnectionSection(Args, frozen=True):
    """How the API server is reached."""

    kubeconfig: str = ""
    """File that says where the API server is; a flag takes precedence."""
    accept_content_types: str = ""
    """Read, and without effect."""
    content_type: str = ""
    """Read, and without effect."""
    qps: float = 0.0
    """Requests per second; 50 when 0."""
    burst: Int32 = 0
    """100 when 0."""


class LeaderElectionSection(Args, frozen=True):
    """The lease that keeps two instances from running at once."""

    leader_elect: bool | None = None
    """Whether a Lease is held while evicting; yes when unset."""
    lease_duration: timedelta = timedelta(0)
    """Time after which the Lease of a dead run may be taken over."""
    renew_deadline: timedelta = timedelta(0)
    """Checked, and without effect."""
    retry_period: timedelta = timedelta(0)
    """Checked, and without effect."""
    resource_lock: str = ""
    """Read, and without effect: the lock is a Lease."""
    resource_name: str = ""
    """Name of the Lease."""
    resource_namespace: str = ""
    """Namespace of the Lease."""


def check_client(checks: Checks, section: ClientConnectionSection) -> tuple[float, int]:
    """Requests per second and burst, defaults filled in; a negative burst is recorded."""
    if section.burst < 0:
        checks.fail_load(("clientConnection", "burst"), f"{section.burst} is below 0")
    return section.qps or 50.0, section.burst or 100


def read_leader_election(checks: Checks, section: LeaderElectionSection) -> LeaderElection:
    """The settings of the lease, defaults filled in; times that cannot work together are recorded."""
    default = DEFAULT_LEADER_ELECTION
    settings = LeaderElection(
        leader_elect=section.leader_elect is not False,
        lease_duration=section.lease_duration or default.lease_duration,
        renew_deadline=section.renew_deadline or default.renew_deadline,
        retry_period=section.retry_period or default.retry_period,
        resource_lock=section.resource_lock or default.resource_lock,
        resource_name=section.resource_name or default.resource_name,
        resource_namespace=section.resource_namespace or default.resource_namespace,
    )
    if settings.leader_elect:
        _check_times(checks, settings)
    return settings


def _check_times(checks: Checks, settings: LeaderElection) -> None:
    path: Path = ("leaderElection",)
    times = {
        "leaseDuration": settings.lease_duration,
        "renewDeadline": settings.renew_deadline,
        "retryPeriod": settings.retry_period,
    }
    for key, duration in times.items():
        if duration <= timedelta(0):
            checks.fail_load((*path, key), f"{duration.total_seconds():g}s is not above 0")
    if settings.lease_duration <= settings.renew_deadline:
        checks.fail_load((*path, "leaseDuration"), "is not above renewDeadline; the Lease would expire while renewed")
    if settings.renew_deadline <= _JITTER * settings.retry_period:
        checks.fail_load((*path, "renewDeadline"), f"is not above {_JITTER} times retryPeriod; leave time for a retry")


def read_address(checks: Checks, key: str, text: str | None) -> str:
    """The `host:port` to listen on; a bare IP address gets the default port. One that cannot be is recorded."""
    if text is None:
        return f"{_DEFAULT_HOST}:{_DEFAULT_PORT}"
    if _is_ip(text):
        return f"[{text}]:{_DEFAULT_PORT}" if ":" in text else f"{text}:{_DEFAULT_PORT}"
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    host_is_good = not host or _is_ip(bare) or bool(_HOST_NAME.match(host))
    if not (colon and host_is_good and port.isascii() and port.isdigit() and int(port[:6]) <= 65535):
        checks.fail_load((key,), f"{shown(text)} is not an address; write host:port, such as 0.0.0.0:{_DEFAULT_PORT}")
    return f"{host or _DEFAULT_HOST}:{port}"


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
