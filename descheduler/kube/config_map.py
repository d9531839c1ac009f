"""One ConfigMap of this program, of which one key is its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.answers import OBJECT_BYTES
from descheduler.kube.stored_object import ObjectPlace, ObjectStore
from descheduler.transport.errors import ExchangeError, TransportError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

__all__ = ["ConfigMap", "ConfigMapStore"]

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


class ConfigMapStore:
    """Calls for one ConfigMap. All raise ApiError (403 names the rule to add) and TransportError."""

    def __init__(self, client: KubeClient, namespace: str, name: str) -> None:
        place = ObjectPlace("ConfigMap", "v1", "configmaps", namespace, name, OBJECT_BYTES)
        self._store = ObjectStore(client, place, ConfigMap, self._explained)

    @property
    def subject(self) -> str:
        """The ConfigMap in messages."""
        return self._store.subject

    def read(self) -> ConfigMap | None:
        """The ConfigMap as it is, None when there is none."""
        return self._store.read()

    def update(self, key: str, new_text: Callable[[str], str]) -> None:
        """Has `key` hold what `new_text` makes of the text that it holds, "" where it holds none; other keys stay.

        Reads it first, and again when it has changed meanwhile. Raises TransportError when it keeps changing,
        ExchangeError where others keep something in it and this program does not, and what `new_text` raises.
        """
        for _ in range(_MAX_RACES):
            found = self._store.read()
            if found is None:
                written = self._store.create(ConfigMap(self._store.new_metadata, {key: new_text("")}))
            else:
                data = found.data or {}
                if key not in data and (data or found.binary_data):
                    raise ExchangeError(
                        f"{self.subject} has no key {key} and is left alone; delete it, or name another Lease"
                    )
                data = {**data, key: new_text(data.get(key, ""))}
                written = self._store.replace(msgspec.structs.replace(found, data=data))
            if written is not None:
                return
        raise TransportError(f"{self.subject} is being changed by another client")

    def _explained(self, verb: str, status_code: int, message: str) -> str:
        """The way out of a refusal; empty where there is none to tell."""
        place = self._store.place
        if status_code == 403:
            return (
                f"not allowed to {verb} {self.subject} (RBAC); "
                f"add these rules to a Role in namespace {place.namespace}:\n"
                f'- {{apiGroups: [""], resources: [configmaps], verbs: [create]}}\n'
                f'- {{apiGroups: [""], resources: [configmaps], resourceNames: [{place.name}], verbs: [get, update]}}'
            )
        return f"{self.subject} cannot be created: {message}" if status_code == 404 else ""
