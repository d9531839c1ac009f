"""The eviction call: one POST, and the truth about the pod when the answer leaves it open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import msgspec

from descheduler.kube.errors import ApiError, KubeError, NotConnected, TransportError
from descheduler.kube.status import RawResponse, StatusCause, decode_status

__all__ = ["EvictionClient", "EvictionResponse", "PodState"]

_REQUESTED_BY = "sigs.k8s.io/descheduler"


class PodState(Enum):
    """What a second look at the pod found, after an answer that leaves open whether it was evicted."""

    NOT_READ = "not read"
    """The answer was clear, nobody looked."""
    UNTOUCHED = "untouched"
    """Nobody looked, since no connection could be made and so nothing was asked for."""
    PRESENT = "present"
    """The same pod is there and stays."""
    TERMINATING = "terminating"
    """The same pod is there and has a deletion time stamp."""
    GONE = "gone"
    """No pod of this name."""
    REPLACED = "replaced"
    """Another pod has taken the name."""
    UNKNOWN = "unknown"
    """The second look failed too."""

    @property
    def is_leaving(self) -> bool:
        """Whether the pod that was asked about has left or will."""
        return self in {PodState.TERMINATING, PodState.GONE, PodState.REPLACED}


@dataclass(frozen=True, slots=True)
class EvictionResponse:
    """What the API server said to one eviction, and what became of the pod where it did not say.

    `status_code` is 0 when no answer came; `message` then names the fault.
    """

    status_code: int
    reason: str = ""
    message: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: float | None = None
    pod_state: PodState = PodState.NOT_READ


class EvictionApi(Protocol):
    """What evicting needs of a client."""

    def send(self, method: str, path: str, *, body: bytes | None = None) -> RawResponse:
        """The answer to one request, without any retry."""

    def get(self, path: str) -> bytes:
        """The body of a successful GET, retried on faults."""


class _ObjectMeta(msgspec.Struct):
    name: str
    namespace: str
    annotations: dict[str, str]


class _Preconditions(msgspec.Struct):
    uid: str


class _DeleteOptions(msgspec.Struct, omit_defaults=True, rename="camel"):
    grace_period_seconds: int | None = None
    preconditions: _Preconditions | None = None
    dry_run: list[str] | None = None


class _Eviction(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _ObjectMeta
    delete_options: _DeleteOptions


class _PodMeta(msgspec.Struct, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None


class _PodHead(msgspec.Struct):
    metadata: _PodMeta


class EvictionClient:
    """Evicts pods through the `pods/eviction` subresource. Safe to use from several threads.

    `policy_version` is the preferred version of the server's group `policy`, as discovery gives it.
    """

    def __init__(self, client: EvictionApi, policy_version: str = "policy/v1") -> None:
        self._client = client
        self._policy_version = policy_version

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        dry_run: bool = False,
    ) -> EvictionResponse:
        """The response to one eviction of the pod with this uid, never of a successor with the same name.

        Never repeats the call. When no answer came, the server gave up half-way (504) or it reports a conflict (409),
        the pod is read again and `pod_state` says what was found. `annotations_reason` is written to the annotation
        `reason` as it is; `grace_period_seconds` None leaves the pod its own. Raises KubeError for a TLS failure.
        """
        options = _DeleteOptions(grace_period_seconds, _Preconditions(uid), ["All"] if dry_run else None)
        annotations = {"reason": annotations_reason, "requested-by": _REQUESTED_BY}
        eviction = _Eviction(self._policy_version, "Eviction", _ObjectMeta(name, namespace, annotations), options)
        pod_path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        try:
            answer = self._client.send("POST", f"{pod_path}/eviction", body=msgspec.json.encode(eviction))
        except NotConnected as error:
            return EvictionResponse(0, message=str(error), pod_state=PodState.UNTOUCHED)
        except TransportError as error:
            return EvictionResponse(0, message=str(error), pod_state=self._look_again(pod_path, uid))
        status = decode_status(answer)
        return EvictionResponse(
            status_code=answer.status_code,
            reason=status.reason,
            message="" if answer.is_success else status.message,
            causes=status.causes,
            retry_after_seconds=status.retry_after_seconds,
            pod_state=self._look_again(pod_path, uid) if answer.status_code in {409, 504} else PodState.NOT_READ,
        )

    def _look_again(self, pod_path: str, uid: str) -> PodState:
        try:
            found = msgspec.json.decode(self._client.get(pod_path), type=_PodHead).metadata
        except ApiError as error:
            return PodState.GONE if error.status_code == 404 else PodState.UNKNOWN
        except (KubeError, msgspec.DecodeError, RecursionError):
            return PodState.UNKNOWN
        if found.uid != uid:
            return PodState.REPLACED
        return PodState.TERMINATING if found.deletion_timestamp else PodState.PRESENT
