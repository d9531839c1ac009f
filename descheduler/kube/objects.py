"""Single objects of any kind by their path: read, created, changed and deleted, never blindly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from descheduler.documents.json_values import elements, members
from descheduler.kube.answers import OBJECT_BYTES, decode_status, describe_body
from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError, KindForbidden, may_have_acted
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import ExchangeError, TransportError

_WRITING = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_CORE = '""'
T = TypeVar("T")
_UNDECODABLE = (ValueError, LookupError, TypeError, RecursionError)
_PASSED = frozenset({"NotFound", "Conflict"})
_ENDS_A_SEGMENT = frozenset("/%?# ")
_MERGE_PATCH = "application/merge-patch+json"


def is_object_name(text: str) -> bool:
    """Whether an object could have this name, which is one segment of a path.

    A name that somebody has written into another object may be anything, and with a slash in it lead elsewhere. As
    `k8s.io/apimachinery/pkg/api/validation/path` (1.36), and without what ends a path or does not print.
    """
    return text not in ("", ".", "..") and text.isascii() and text.isprintable() and not _ENDS_A_SEGMENT & set(text)


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str
    deletion_timestamp: str | None = None


class _Head(msgspec.Struct):
    metadata: _Metadata


_decode_head = msgspec.json.Decoder(_Head).decode


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


_decode_items = msgspec.json.Decoder(_Items).decode


class ObjectCalls:
    """Calls for single objects over `client`. Reading is retried by its rules; every other call is made once.

    All raise ApiError for a refusal that is not named here (403 names the rule to add), and TransportError when no
    usable answer came: whether a call that writes took effect is unknown then, and the object has to be read.
    """

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._is_given_up = False

    @property
    def client(self) -> KubeClient:
        """What makes the calls."""
        return self._client

    def give_up(self) -> None:
        """Has every further call that writes raise ExchangeError, with nothing sent. Safe from any thread."""
        self._is_given_up = True

    def read(self, path: str, decode: Callable[[bytes], T]) -> T | None:
        """What `decode` makes of the object at `path`, None when there is none. Raises KindForbidden."""

        def decode_or_fail(body: bytes) -> T:
            try:
                return decode(body)
            except (ValueError, LookupError, TypeError) as error:  # what came is another object, or none
                raise msgspec.DecodeError(str(error)) from error

        try:
            return self._client.fetch(path, decode_or_fail)
        except ApiError as error:
            if error.status_code == 404 and error.reason == "NotFound":
                return None
            told = _explained(error, "GET", path)
            if error.status_code == 403 and error.reason == "Forbidden":
                raise KindForbidden(str(told), status_code=403, reason=error.reason) from error
            raise told from error

    def list(self, list_path: str, decode: Callable[[bytes], T], *, field_selector: str | None = None) -> tuple[T, ...]:
        """What `decode` makes of each object of a list. Raises KindAbsent where the server does not know the kind."""
        bodies = self._bodies(list_path, field_selector=field_selector)
        return tuple(found for body in bodies for found in self._decoded_items(list_path, body, decode))

    def list_readable(
        self,
        list_path: str,
        decode: Callable[[bytes], T],
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> tuple[T, ...]:
        """The same without the objects that `decode` refuses: one that somebody has broken is not in the way of all."""
        bodies = self._bodies(list_path, label_selector=label_selector, field_selector=field_selector)
        found = (item for body in bodies for item in self._items_if_readable(list_path, body, decode))
        return tuple(item for item in found if item is not None)

    def _bodies(
        self, list_path: str, *, label_selector: str | None = None, field_selector: str | None = None
    ) -> tuple[bytes, ...]:
        pages = self._client.list_pages(list_path, label_selector=label_selector, field_selector=field_selector)
        return tuple(page.body for page in pages)

    def _decoded_items(self, path: str, body: bytes, decode: Callable[[bytes], T]) -> tuple[T, ...]:
        try:
            return tuple(decode(item) for item in _items(body))
        except (ValueError, RecursionError) as error:
            raise self._broken("GET", path, body) from error

    def _items_if_readable(self, path: str, body: bytes, decode: Callable[[bytes], T]) -> tuple[T | None, ...]:
        return self._decoded_items(path, body, lambda item: _decoded_if_readable(item, decode))

    def create(
        self, list_path: str, created: Mapping[str, Any], decode: Callable[[bytes], T], *, manager: str = ""
    ) -> T | None:
        """The new object, None when there is one of its name already.

        Raises ExchangeError, with nothing sent, where `decode` cannot read the object: no later call could use it.
        The server is told how long it may try: a call that this side has given up must not take effect much later. It
        keeps the `manager` as who has stated the fields of the object.
        """
        query = {"timeout": f"{max(self._client.request_timeout_seconds, 0.001):.3f}s"}
        query |= {"fieldManager": manager} if manager else {}
        response = self._send("POST", list_path, _readable(list_path, created, decode), query=query)
        if response.status_code == 409:
            error = self._refusal("POST", list_path, response)
            if error.reason == "AlreadyExists":
                return None
            raise error
        return self._decoded("POST", list_path, response, decode)

    def patch(
        self,
        path: str,
        patch: Mapping[str, Any],
        decode: Callable[[bytes], T],
        *,
        query: Mapping[str, str] | None = None,
    ) -> T | None:
        """The object after a JSON merge patch (RFC 7396); None when it is gone, or has another resource version."""
        response = self._send("PATCH", path, msgspec.json.encode(patch), content_type=_MERGE_PATCH, query=query)
        if self._has_passed(response):
            return None
        return self._decoded("PATCH", path, response, decode)

    def delete(self, path: str, *, uid: str = "", grace_period_seconds: int | None = None) -> bool:
        """Whether the object is being deleted; False when it is not there, or is another one than that of `uid`.

        After an answer that leaves that open the object is looked at: what is gone by then was deleted.
        """
        try:
            return self._delete(path, uid, grace_period_seconds)
        except ExchangeError as error:
            if may_have_acted(error) and self._is_leaving(path, uid):
                return True
            raise

    def _is_leaving(self, path: str, uid: str) -> bool:
        """Whether it is gone, or about to be; False where that is unknown."""
        try:
            found = self.read(path, _decode_head)
        except ExchangeError:
            return False
        return found is None or uid not in ("", found.metadata.uid) or found.metadata.deletion_timestamp is not None

    def _delete(self, path: str, uid: str, grace_period_seconds: int | None) -> bool:
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        response = self._send("DELETE", path, msgspec.json.encode(options))
        if self._has_passed(response):
            return False
        if not response.is_success:
            raise self._refusal("DELETE", path, response)
        return True

    def _send(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        content_type: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> RawResponse:
        if self._is_given_up:
            raise ExchangeError(f"{method} {path}: not sent, the run has ended")
        return self._client.send(
            method, path, query=query, body=body, max_bytes=OBJECT_BYTES, content_type=content_type
        )

    def _refusal(self, method: str, path: str, response: RawResponse) -> ApiError:
        return _explained(self._client.refusal(method, path, response), method, path)

    def _has_passed(self, response: RawResponse) -> bool:
        """Whether the object that was meant is not there any more; a proxy's word does not count."""
        return response.status_code in (404, 409) and decode_status(response).reason in _PASSED

    def _decoded(self, method: str, path: str, response: RawResponse, decode: Callable[[bytes], T]) -> T:
        if not response.is_success:
            raise self._refusal(method, path, response)
        try:
            return decode(response.body)
        except (ValueError, RecursionError) as error:
            raise self._broken(method, path, response.body) from error

    def _broken(self, method: str, path: str, body: bytes) -> TransportError:
        return TransportError(
            f"{method} {path} on {self._client.host}: the answer is cut short or not what was asked "
            f"({describe_body(body)})"
        )


def _items(body: bytes) -> Iterator[bytes]:
    """The objects of a page, which one that is nested too deeply does not keep from being told apart."""
    try:
        items = _decode_items(body).items or ()
    except RecursionError:
        yield from (item for item, _ in elements(members(body)["items"]))
        return
    yield from map(bytes, items)


def _readable(list_path: str, created: Mapping[str, Any], decode: Callable[[bytes], object]) -> bytes:
    try:
        body = msgspec.json.encode(created)
        decode(body)
    except _UNDECODABLE as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ExchangeError(f"POST {list_path}: not sent, the object would not be valid: {why}") from error
    return body


def _decoded_if_readable(item: bytes, decode: Callable[[bytes], T]) -> T | None:
    try:
        return decode(item)
    except _UNDECODABLE:
        return None


def _explained(error: ApiError, method: str, path: str) -> ApiError:
    """`error`, which for want of a right names the rule to add."""
    rule = rule_to_add(method, path) if error.status_code == 403 and error.reason == "Forbidden" else ""
    if not rule:
        return error
    return ApiError(f"{error}; {rule}", status_code=error.status_code, reason=error.reason)


def rule_to_add(method: str, path: str) -> str:
    """The sentence that says which rule allows a request for an object or a list; "" for a path of another kind.

    It belongs into a Role of the namespace, or into a ClusterRole for what is in none; it is one line, as it may stand
    in a table. Names of pods and jobs are not known beforehand, so that every name is allowed.
    """
    group, rest = _group_of(path.partition("?")[0].strip("/").split("/"))
    if not rest:
        return ""
    namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 2 else ""
    resource, name, subresource = (*(rest[2:] if namespace else rest), "", "")[:3]
    verb = _WRITING.get(method) or ("get" if name else "list")
    where = f"a Role in namespace {namespace}" if namespace else "a ClusterRole"
    whole = f"{resource}/{subresource}" if subresource else resource
    rule = f"{{apiGroups: [{group or _CORE}], resources: [{whole}], verbs: [{verb}]}}"
    return f"add this rule to {where}: {rule}"


def _group_of(parts: list[str]) -> tuple[str, list[str]]:
    """The API group and what follows its version."""
    match parts:
        case ["api", _, *rest]:
            return "", rest
        case ["apis", group, _, *rest]:
            return group, rest
    return "", []
