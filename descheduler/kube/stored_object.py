"""One object of the API server that this program keeps, such as a ConfigMap: read, created and replaced, never
blindly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from descheduler.kube.answers import OBJECT_BYTES, decode_status, describe_body
from descheduler.kube.errors import ApiError, credentials_refused
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import ExchangeError, TransportError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

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
    """Calls for one object, each made once; to inherit from. All raise ApiError and TransportError."""

    def __init__(self, client: KubeClient, place: ObjectPlace, stored_type: type[StoredT]) -> None:
        self._place = place
        self._client = client
        self._decode = msgspec.json.Decoder(stored_type).decode

    @property
    def subject(self) -> str:
        """It in messages."""
        return self._place.subject

    @property
    def _new_metadata(self) -> msgspec.Raw:
        """`metadata` to create it with."""
        return msgspec.Raw(msgspec.json.encode(NewMetadata(self._place.name, self._place.namespace)))

    def read(self) -> StoredT | None:
        """The object as it is, None when there is none."""
        return self._call("GET", f"{self._place.list_path}/{self._place.name}", None, absent=(404,))

    def _create(self, stored: StoredT) -> StoredT | None:
        """The new object, None when somebody else has created it first."""
        return self._call("POST", self._place.list_path, stored, absent=(409,))

    def _replace(self, stored: StoredT) -> StoredT | None:
        """The object as it is now, None when it has changed or vanished since `stored` was read."""
        return self._call("PUT", f"{self._place.list_path}/{self._place.name}", stored, absent=(404, 409))

    def _call(self, method: str, path: str, stored: StoredT | None, *, absent: tuple[int, ...]) -> StoredT | None:
        body = None if stored is None else msgspec.json.encode(stored)
        response = self._client.send(method, path, body=body, max_bytes=self._place.max_bytes)
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
        place = self._place
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
            self._explained(VERBS[method], status.code, status.message) or text,
            status_code=status.code,
            reason=status.reason,
            retry_after_seconds=status.retry_after_seconds,
        )

    def _explained(self, verb: str, status_code: int, message: str) -> str:
        """The words for a refusal with this HTTP status and message to a verb, "" for those of the server."""
        raise NotImplementedError


_MAX_RACES = 3
"""How often the object may change between reading and writing it, before somebody else counts as its owner."""


class ConfigMap(msgspec.Struct, frozen=True, rename="camel"):
    """The object; all but `data` is kept as it came, resource version included, so that a replacement loses nothing."""

    metadata: msgspec.Raw
    data: dict[str, str] | None = None
    binary_data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    immutable: bool | msgspec.UnsetType | None = msgspec.UNSET
    api_version: str = "v1"
    kind: str = "ConfigMap"


class ConfigMapStore(ObjectStore[ConfigMap]):
    """Calls for one ConfigMap. All raise ApiError (403 names the rule to add) and TransportError."""

    def __init__(self, client: KubeClient, namespace: str, name: str) -> None:
        place = ObjectPlace("ConfigMap", "v1", "configmaps", namespace, name, OBJECT_BYTES)
        super().__init__(client, place, ConfigMap)

    def update(self, key: str, new_text: Callable[[str], str]) -> None:
        """Has `key` hold what `new_text` makes of the text that it holds, "" where it holds none; other keys stay.

        Reads it first, and again when it has changed meanwhile. Raises TransportError when it keeps changing,
        ExchangeError where others keep something in it and this program does not, and what `new_text` raises.
        """
        for _ in range(_MAX_RACES):
            found = self.read()
            if found is None:
                written = self._create(ConfigMap(self._new_metadata, {key: new_text("")}))
            else:
                data = found.data or {}
                if key not in data and (data or found.binary_data):
                    raise ExchangeError(
                        f"{self.subject} has no key {key} and is left alone; delete it, or name another Lease"
                    )
                data = {**data, key: new_text(data.get(key, ""))}
                written = self._replace(msgspec.structs.replace(found, data=data))
            if written is not None:
                return
        raise TransportError(f"{self.subject} is being changed by another client")

    def _explained(self, verb: str, status_code: int, message: str) -> str:
        place = self._place
        if status_code == 403:
            return (
                f"not allowed to {verb} {self.subject} (RBAC); "
                f"add these rules to a Role in namespace {place.namespace}:\n"
                f'- {{apiGroups: [""], resources: [configmaps], verbs: [create]}}\n'
                f'- {{apiGroups: [""], resources: [configmaps], resourceNames: [{place.name}], verbs: [get, update]}}'
            )
        return f"{self.subject} cannot be created: {message}" if status_code == 404 else ""
