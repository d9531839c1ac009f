"""One Lease (coordination.k8s.io/v1) as an object: read, created and replaced, never blindly."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.stored_object import ObjectPlace, ObjectStore
from descheduler.transport.bounded_body import SHORT_BYTES

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

LEASE_API_VERSION = "coordination.k8s.io/v1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RELEASED_SECONDS = 1
"""The duration of a Lease without a holder, as client-go leaves it; the API wants one above zero."""


class LeaseSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Who holds the Lease, and until when. Times are RFC 3339 with microseconds. All parts are optional in the API."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None

    @property
    def renewed_seconds(self) -> float | None:
        """When it was renewed by the holder's clock, in seconds since 1970; None when no time can be read.

        A number, as the API takes every year from 1 to 9999, and sums with datetimes at either end overflow.
        """
        try:
            renewed_at = datetime.fromisoformat(self.renew_time or "")
        except ValueError:
            return None
        if renewed_at.tzinfo is None:
            renewed_at = renewed_at.replace(tzinfo=UTC)
        return (renewed_at - _EPOCH).total_seconds()

    def renewed(self, at: datetime) -> LeaseSpec:
        """The same from a renewal at `at`, an aware time, on."""
        return msgspec.structs.replace(self, renew_time=micro_time(at))

    def left(self, at: datetime, seconds: int) -> LeaseSpec:
        """The same, to run out `seconds` (at least 1) after `at`."""
        return msgspec.structs.replace(self.renewed(at), lease_duration_seconds=seconds)

    def released(self, at: datetime) -> LeaseSpec:
        """Without a holder, as client-go leaves it."""
        time = micro_time(at)
        return LeaseSpec(None, _RELEASED_SECONDS, time, time, self.lease_transitions, self.strategy)


class Lease(msgspec.Struct, frozen=True, rename="camel"):
    """The object. `metadata` is kept as it came, resource version included, so that a replacement loses nothing."""

    metadata: msgspec.Raw
    spec: LeaseSpec = LeaseSpec()
    api_version: str = LEASE_API_VERSION
    kind: str = "Lease"


def micro_time(at: datetime) -> str:
    """`at`, an aware time, as the API's MicroTime: always six digits of the second, which its parser insists on."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class LeaseStore(ObjectStore[Lease]):
    """Calls for one Lease, each made once. All raise ApiError (403 names the rule to add) and TransportError."""

    def __init__(self, client: KubeClient, namespace: str, name: str) -> None:
        place = ObjectPlace("Lease", LEASE_API_VERSION, "leases", namespace, name, SHORT_BYTES)
        super().__init__(client, place, Lease)

    def create(self, spec: LeaseSpec) -> Lease | None:
        """The new Lease, None when somebody else has created it first."""
        return self._create(Lease(self._new_metadata, spec))

    def replace(self, lease: Lease, spec: LeaseSpec) -> Lease | None:
        """`lease` with another spec, None when it has changed or vanished since it was read."""
        return self._replace(Lease(lease.metadata, spec))

    def _explained(self, verb: str, status_code: int, message: str) -> str:
        place = self._place
        if status_code == 403:
            return (
                f"not allowed to {verb} {self.subject} (RBAC), which prevents two runs at the same time; "
                f"add these rules to a Role in namespace {place.namespace}, or run with --no-lease:\n"
                f"- {{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}}\n"
                f"- {{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [{place.name}], "
                "verbs: [get, update]}"
            )
        if status_code == 404:
            return (
                f"{self.subject} cannot be created: {message}; choose a namespace with --lease-namespace, or "
                "run with --no-lease"
            )
        return ""
