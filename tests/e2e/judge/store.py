"""Changes a running cluster behind its API server's back, by writing and deleting keys in etcd.

That is fast, and no admission, finalizer, grace period or controller is in the way; everybody who watches is told.
Every object gets a transaction of its own: the API server takes an etcd revision for one change, and a watch that is
resumed in the middle of a revision misses the rest of it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import urllib3

from tests.e2e.cluster_fill import registry_key
from tests.e2e.kube_api import Object, object_path

_WRITERS = 4
_CREATED_AT = "2026-01-01T00:00:00Z"


class LiveStore:
    """The etcd at `url` below a running API server. Methods raise OSError when it refuses."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = urllib3.PoolManager(maxsize=_WRITERS, timeout=60)

    def write(self, objects: Iterable[Object]) -> None:
        """Stores objects with `apiVersion` and `kind`; a uid that is missing is made up anew each time.

        Informers that lose their place in a stream tell an object from its successor of the same name by the uid only.
        """
        self._each(self._put, objects)

    def delete(self, keys: Iterable[str]) -> None:
        """Deletes keys (`key_of` an object); those that are gone already do not matter."""
        self._each(self._delete, keys)

    def _each(self, act: Callable[..., None], items: Iterable[object]) -> None:
        with ThreadPoolExecutor(_WRITERS) as writers:
            list(writers.map(act, items))

    def _put(self, obj: Object) -> None:
        metadata = {"creationTimestamp": _CREATED_AT, "uid": str(uuid4()), **obj["metadata"]}
        value = json.dumps({**obj, "metadata": metadata})
        self._request("put", {"key": _encode(key_of(obj)), "value": _encode(value)})

    def _delete(self, key: str) -> None:
        self._request("deleterange", {"key": _encode(key)})

    def _request(self, call: str, body: Object) -> None:
        answer = self._pool.request("POST", f"{self._url}/v3/kv/{call}", body=json.dumps(body))
        if answer.status != 200:
            raise OSError(f"etcd answers {answer.status}: {answer.data[:500]!r}")


def key_of(obj: Object) -> str:
    """Where the API server keeps the object in etcd; custom resources lie below the name of their group."""
    try:
        return registry_key(obj)
    except KeyError:
        group, *_ = obj["apiVersion"].split("/")
        *_, folder, name = object_path(obj).split("/")
        return "/".join(filter(None, ("/registry", group, folder, obj["metadata"].get("namespace"), name)))


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
