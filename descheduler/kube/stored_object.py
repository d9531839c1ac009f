"""One object of the API server that this program keeps: read, created and replaced, never blindly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from descheduler.kube.answers import decode_status, describe_body
from descheduler.kube.errors import ApiError, credentials_refused
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import ExchangeError, TransportError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

__all__ = ["VERBS", "NewMetadata", "ObjectPlace", "ObjectStore"]

_SUCCESSES = frozenset({200, 201})
VERBS = {"GET": "get", "POST": "create", "PUT": "update"}
"""HTTP method → verb in roles."""

StoredT = TypeVar("StoredT", bound=msgspec.Struct)


class NewMetadata(msgspec.Struct):
    """`metadata` of an object that is to be created."""

    name: str
    namespace: str


class _Identity(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Head(msgspec.Struct, frozen=True, rename="camel"):
    """What tells the object that was asked for from other answers; a Status names none otherwise."""

    kind: str = ""
    api_version: str = ""
    metadata: _Identity = _Identity()


_decode_head = msgspec.json.Decoder(_Head).decode


class ObjectPlace(msgspec.Struct, frozen=True):
    """Which object it is, and how large an honest answer with it may be."""

    kind: str
    api_version: str
    plural: str
    namespace: str
    name: str
    max_bytes: int

    @property
    def list_path(self) -> str:
        """Where it is created."""
        root = "apis" if "/" in self.api_version else "api"
        return f"/{root}/{self.api_version}/namespaces/{self.namespace}/{self.plural}"

    @property
    def subject(self) -> str:
        """It in messages."""
        return f"{'lease' if self.kind == 'Lease' else self.kind} {self.namespace}/{self.name}"


class ObjectStore(Generic[StoredT]):
    """Calls for one object, each made once. All raise ApiError and TransportError.

    `explain` gives the words for a refusal with this HTTP status and message to a verb, "" for those of the server.
    """

    def __init__(
        self,
        client: KubeClient,
        place: ObjectPlace,
        stored_type: type[StoredT],
        explain: Callable[[str, int, str], str],
    ) -> None:
        self.place = place
        self._client = client
        self._decode = msgspec.json.Decoder(stored_type).decode
        self._explain = explain

    @property
    def subject(self) -> str:
        """It in messages."""
        return self.place.subject

    @property
    def new_metadata(self) -> msgspec.Raw:
        """`metadata` to create it with."""
        return msgspec.Raw(msgspec.json.encode(NewMetadata(self.place.name, self.place.namespace)))

    def read(self) -> StoredT | None:
        """The object as it is, None when there is none."""
        return self._call("GET", f"{self.place.list_path}/{self.place.name}", None, absent=(404,))

    def create(self, stored: StoredT) -> StoredT | None:
        """The new object, None when somebody else has created it first."""
        return self._call("POST", self.place.list_path, stored, absent=(409,))

    def replace(self, stored: StoredT) -> StoredT | None:
        """The object as it is now, None when it has changed or vanished since `stored` was read."""
        return self._call("PUT", f"{self.place.list_path}/{self.place.name}", stored, absent=(404, 409))

    def _call(self, method: str, path: str, stored: StoredT | None, *, absent: tuple[int, ...]) -> StoredT | None:
        body = None if stored is None else msgspec.json.encode(stored)
        response = self._client.send(method, path, body=body, max_bytes=self.place.max_bytes)
        if response.status_code in absent:
            return None
        if not response.is_success:
            raise self._refusal(method, response)
        try:
            head = _decode_head(response.body)
            found = self._decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise TransportError(
                f"{method} of {self.subject}: the answer is cut short or not what was asked"
                f" ({describe_body(response.body)})"
            ) from error
        place = self.place
        asked = _Head(place.kind, place.api_version, _Identity(place.name, place.namespace))
        if response.status_code not in _SUCCESSES or head != asked:
            raise TransportError(
                f"{method} of {self.subject}: the answer, with HTTP status {response.status_code}, is "
                f"{describe_body(response.body)}, not this {place.kind}; "
                "check the server and the proxies in front of it"
            )
        return found

    def _refusal(self, method: str, response: RawResponse) -> ExchangeError:
        status = decode_status(response)
        host = self._client.host
        text = f"{method} of {self.subject} on {host}: {status.message} ({status.code})"
        if status.code == 401:
            text = f"{method} of {self.subject}: {credentials_refused(host)}"
        return ApiError(
            self._explain(VERBS[method], status.code, status.message) or text,
            status_code=status.code,
            reason=status.reason,
            retry_after_seconds=status.retry_after_seconds,
        )
