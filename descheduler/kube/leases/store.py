"""One Lease (coordination.k8s.io/v1) as an object: read, created and replaced, never blindly."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

import msgspec

from descheduler.kube.errors import ApiError, KubeError, TransportError, credentials_refused
from descheduler.kube.http.found import describe_body
from descheduler.kube.http.status import RawResponse, decode_status

__all__ = ["Lease", "LeaseApi", "LeaseSpec", "LeaseStore", "micro_time"]

_API_VERSION = "coordination.k8s.io/v1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RELEASED_SECONDS = 1
"""The duration of a Lease that nobody holds, as client-go leaves it; the API wants one above zero."""
_SUCCESSES = frozenset({200, 201})
_VERBS = {"GET": "get", "POST": "create", "PUT": "update"}


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
        """Held by nobody, as client-go leaves it."""
        time = micro_time(at)
        return LeaseSpec(None, _RELEASED_SECONDS, time, time, self.lease_transitions, self.strategy)


class Lease(msgspec.Struct, frozen=True, rename="camel"):
    """The object. `metadata` is kept as it came, resource version included, so that a replacement loses nothing."""

    metadata: msgspec.Raw
    spec: LeaseSpec = LeaseSpec()
    api_version: str = _API_VERSION
    kind: str = "Lease"


class _NewMetadata(msgspec.Struct):
    name: str
    namespace: str


class _Identity(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    """What tells the Lease that was asked for from other answers; a Status is one of nobody otherwise."""

    kind: str = ""
    api_version: str = ""
    metadata: _Identity = _Identity()


class LeaseApi(Protocol):
    """What the store needs of a client."""

    @property
    def host(self) -> str:
        """Base URL of the API server."""

    def send(self, method: str, path: str, *, body: bytes | None = None) -> RawResponse:
        """The answer to one request, without any retry."""


def micro_time(at: datetime) -> str:
    """`at`, an aware time, as the API's MicroTime: always six digits of the second, which its parser insists on."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class LeaseStore:
    """Calls for one Lease, each made once. All raise ApiError (403 names the rule to add) and TransportError."""

    def __init__(self, client: LeaseApi, namespace: str, name: str) -> None:
        self.subject = f"lease {namespace}/{name}"
        self._client = client
        self._namespace = namespace
        self._name = name
        self._list_path = f"/apis/{_API_VERSION}/namespaces/{namespace}/leases"

    def read(self) -> Lease | None:
        """The Lease as it is, None when there is none."""
        return self._call("GET", f"{self._list_path}/{self._name}", None, absent=(404,))

    def create(self, spec: LeaseSpec) -> Lease | None:
        """The new Lease, None when somebody else has created it first."""
        metadata = msgspec.Raw(msgspec.json.encode(_NewMetadata(self._name, self._namespace)))
        return self._call("POST", self._list_path, Lease(metadata, spec), absent=(409,))

    def replace(self, lease: Lease, spec: LeaseSpec) -> Lease | None:
        """`lease` with another spec, None when it has changed or vanished since it was read."""
        changed = Lease(lease.metadata, spec)
        return self._call("PUT", f"{self._list_path}/{self._name}", changed, absent=(404, 409))

    def _call(self, method: str, path: str, lease: Lease | None, *, absent: tuple[int, ...]) -> Lease | None:
        body = None if lease is None else msgspec.json.encode(lease)
        response = self._client.send(method, path, body=body)
        if response.status_code in absent:
            return None
        if not response.is_success:
            raise self._refusal(method, response)
        try:
            head = msgspec.json.decode(response.body, type=_Head)
            found = msgspec.json.decode(response.body, type=Lease)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise TransportError(
                f"{method} of {self.subject}: the answer is cut short or not what was asked"
                f" ({describe_body(response.body)})"
            ) from error
        asked = _Head("Lease", _API_VERSION, _Identity(self._name, self._namespace))
        if response.status_code not in _SUCCESSES or head != asked:
            raise TransportError(
                f"{method} of {self.subject}: the answer, with HTTP status {response.status_code}, is "
                f"{describe_body(response.body)}, not this Lease; check the server and the proxies in front of it"
            )
        return found

    def _refusal(self, method: str, response: RawResponse) -> KubeError:
        status = decode_status(response)
        text = f"{method} of {self.subject} on {self._client.host}: {status.message} ({status.code})"
        if status.code == 401:
            text = f"{method} of {self.subject}: {credentials_refused(self._client.host)}"
        elif status.code == 403:
            text = (
                f"not allowed to {_VERBS[method]} {self.subject} (RBAC), which prevents two runs at the same time; "
                f"add these rules to a Role in namespace {self._namespace}, or run with --no-lease:\n"
                f"- {{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}}\n"
                f"- {{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [{self._name}], "
                "verbs: [get, update]}"
            )
        elif status.code == 404:
            text = (
                f"{self.subject} cannot be created: {status.message}; choose a namespace with --lease-namespace, or "
                "run with --no-lease"
            )
        return ApiError(
            text, status_code=status.code, reason=status.reason, retry_after_seconds=status.retry_after_seconds
        )
