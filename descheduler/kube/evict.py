"""The eviction call, one POST, and a look at the pod for when the answer leaves open what the call did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.answers import StatusCause, decode_status
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import ExchangeError, NotConnected, TransportError, Withheld

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

_REQUESTED_BY = "sigs.k8s.io/descheduler"

_METADATA_ALONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
"""Many pods may be looked at at once, and a whole pod can take a megabyte."""

_MERGE_PATCH = "application/merge-patch+json"
_POD_KINDS = {"Pod", "PartialObjectMetadata"}
_ANSWERED_KINDS = _POD_KINDS | {"Scale"}

_FAIRNESS_HEADER = "x-kubernetes-pf-flowschema-uid"
"""On every answer of a server with priority and fairness; a balancer that answers by itself does not know it."""


class PodState(Enum):
    """What a look at a pod found."""

    PRESENT = "present"
    """The pod is there and stays."""
    TERMINATING = "terminating"
    """The pod is there and has a deletion time stamp."""
    GONE = "gone"
    """No pod of this name."""
    REPLACED = "replaced"
    """Another pod has taken the name."""
    UNKNOWN = "unknown"
    """No answer that says anything about the pod."""

    @property
    def is_leaving(self) -> bool:
        """Whether the pod that was asked about has left or will."""
        return self in {PodState.TERMINATING, PodState.GONE, PodState.REPLACED}


class EvictionResponse(msgspec.Struct, frozen=True):
    """What was said to one eviction.

    `status_code` is 0 when no answer came; `message` then names the fault, and `was_sent` is False when no connection
    could be made, so that nothing was asked for. `is_told` says whether the answer is of the API server: a `Status`
    that refuses, or the word that the eviction was created. `is_unread` says that its priority and fairness turned the
    call away, which it does in plain text.
    """

    status_code: int
    reason: str = ""
    message: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: float | None = None
    was_sent: bool = True
    is_told: bool = True
    is_unread: bool = False


class _ObjectMeta(msgspec.Struct):
    name: str
    namespace: str
    annotations: dict[str, str]


class _Preconditions(msgspec.Struct):
    uid: str


class _DeleteOptions(msgspec.Struct, omit_defaults=True, rename="camel"):
    grace_period_seconds: int | None = None
    preconditions: _Preconditions | None = None
    dry_run: tuple[str, ...] = ()


class _Eviction(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _ObjectMeta
    delete_options: _DeleteOptions


class _PodMeta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str
    uid: str
    deletion_timestamp: str | None = None


class _PodHead(msgspec.Struct):
    metadata: _PodMeta
    kind: str = "Pod"


_decode_head = msgspec.json.Decoder(_PodHead).decode


class EvictionClient:
    """Evicts pods through the `pods/eviction` subresource. Safe to use from several threads.

    `policy_version` is the preferred version of the server's group `policy`, as discovery gives it.
    `timeout_seconds` is told to the server as the time that it may spend on a call (query parameter `timeout`,
    kubernetes 1.36 `apiserver/pkg/endpoints/filters/request_deadline.go`): a call that this side has given up must not
    take effect much later.
    """

    def __init__(self, client: KubeClient, policy_version: str = "policy/v1", *, timeout_seconds: float = 30.0) -> None:
        self._client = client
        self._policy_version = policy_version
        self._query = {"timeout": f"{max(timeout_seconds, 0.001):.3f}s"}

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """The response to one eviction of the pod with this uid, never of a successor with the same name.

        Never repeats the call. `may_send` is asked once credentials are there; None when it says no, and nothing is
        sent. `annotations_reason` is written to the annotation `reason` as it is; `grace_period_seconds` None leaves
        the pod its own. Raises ExchangeError where nothing was sent and repeating is of no use: the TLS handshake
        failed, or there are no credentials.
        """
        options = _DeleteOptions(grace_period_seconds, _Preconditions(uid))
        annotations = {"reason": annotations_reason, "requested-by": _REQUESTED_BY}
        return self._evict(_ObjectMeta(name, namespace, annotations), options, may_send)

    def try_evict(
        self, namespace: str, name: str, *, uid: str, may_send: Callable[[], bool] = lambda: True
    ) -> EvictionResponse | None:
        """As `evict`, and judged by the API server in the same way, budgets included, but without effect."""
        options = _DeleteOptions(preconditions=_Preconditions(uid), dry_run=("All",))
        return self._evict(_ObjectMeta(name, namespace, {"requested-by": _REQUESTED_BY}), options, may_send)

    def _evict(
        self, pod: _ObjectMeta, options: _DeleteOptions, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        eviction = _Eviction(self._policy_version, "Eviction", pod, options)
        return self._asked("POST", f"{_pod_path(pod.namespace, pod.name)}/eviction", eviction, may_send)

    def delete(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """The response to one deletion of the pod, which no disruption budget can refuse; otherwise as `evict`."""
        options = _DeleteOptions(grace_period_seconds, _Preconditions(uid))
        return self._asked("DELETE", _pod_path(namespace, name), options, may_send)

    def annotate(
        self,
        namespace: str,
        name: str,
        annotations: Mapping[str, str],
        *,
        uid: str,
        manager: str = "",
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """The response to one change of the pod's annotations, by which others are asked to remove it; as `evict`.

        The API server keeps `manager`, if given, as who has set them.
        """
        patch, query = {"metadata": {"uid": uid, "annotations": annotations}}, {"fieldManager": manager}
        return self._asked(
            "PATCH",
            _pod_path(namespace, name),
            patch,
            may_send,
            content_type=_MERGE_PATCH,
            query=query if manager else None,
        )

    def scale(
        self, path: str, patch: Mapping[str, object], *, manager: str, may_send: Callable[[], bool] = lambda: True
    ) -> EvictionResponse | None:
        """The response to one patch of a subresource `scale` in the name of `manager`, which has a pod leave."""
        return self._asked("PATCH", path, patch, may_send, content_type=_MERGE_PATCH, query={"fieldManager": manager})

    def _asked(
        self,
        method: str,
        path: str,
        body: object,
        may_send: Callable[[], bool],
        *,
        content_type: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> EvictionResponse | None:
        encoded = msgspec.json.encode(body)
        query = {**self._query, **(query or {})}
        try:
            answer = self._client.send(
                method, path, query=query, body=encoded, content_type=content_type, may_send=may_send
            )
        except Withheld:
            return None
        except NotConnected as error:
            return EvictionResponse(0, message=str(error), was_sent=False)
        except TransportError as error:
            return EvictionResponse(0, message=str(error))
        status = decode_status(answer)
        is_done = status.is_done if method == "POST" else status.is_done or _is_object(answer)
        return EvictionResponse(
            status_code=answer.status_code,
            reason=status.reason,
            message="" if answer.is_success else status.message,
            causes=status.causes,
            retry_after_seconds=status.retry_after_seconds,
            is_told=is_done if answer.is_success else status.is_told,
            is_unread=answer.status_code == 429 and _FAIRNESS_HEADER in answer.headers,
        )

    def look(self, namespace: str, name: str, *, uid: str) -> PodState:
        """What became of the pod with this uid, by one GET. An answer that is not about the pod gives UNKNOWN."""
        try:
            answer = self._client.send("GET", _pod_path(namespace, name), accept=_METADATA_ALONE)
        except ExchangeError:
            return PodState.UNKNOWN
        if answer.status_code == 404:
            # A proxy that cannot find the API server answers 404 as well; that says nothing about the pod.
            status = decode_status(answer)
            return PodState.GONE if status.is_told and status.reason == "NotFound" else PodState.UNKNOWN
        return _pod_state(answer, namespace, name, uid) if answer.status_code == 200 else PodState.UNKNOWN


def _is_object(answer: RawResponse) -> bool:
    """Whether the answer is the object as it is after a call, which an API server tells and no proxy."""
    try:
        return _decode_head(answer.body).kind in _ANSWERED_KINDS
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _pod_path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def _pod_state(answer: RawResponse, namespace: str, name: str, uid: str) -> PodState:
    try:
        pod = _decode_head(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return PodState.UNKNOWN
    found = pod.metadata
    if pod.kind not in _POD_KINDS or (found.namespace, found.name) != (namespace, name) or not found.uid:
        return PodState.UNKNOWN
    if found.uid != uid:
        return PodState.REPLACED
    return PodState.TERMINATING if found.deletion_timestamp else PodState.PRESENT
