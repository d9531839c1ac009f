"""Takes objects out of a running cluster at once, by deleting their keys in etcd.

No finalizer, grace period or controller is waited for; everybody who watches is told as of any other deletion.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable

import urllib3

from tests.e2e.cluster_fill import registry_key
from tests.e2e.kube_api import Object


def remove(etcd_url: str, objects: Iterable[Object], *, prefixes: Iterable[str] = ()) -> None:
    """Deletes the keys of `objects` and everything below the `prefixes`; raises OSError when etcd refuses."""
    keys = [{"key": _encode(registry_key(obj).encode())} for obj in objects]
    ranges = [{"key": _encode(p.encode()), "range_end": _encode(_after(p.encode()))} for p in prefixes]
    body = json.dumps({"success": [{"requestDeleteRange": each} for each in (*keys, *ranges)]})
    answer = urllib3.request("POST", f"{etcd_url}/v3/kv/txn", body=body, timeout=60)
    if answer.status != 200:
        raise OSError(f"etcd answers {answer.status}: {answer.data[:500]!r}")


def _after(prefix: bytes) -> bytes:
    return prefix[:-1] + bytes([prefix[-1] + 1])


def _encode(key: bytes) -> str:
    return base64.b64encode(key).decode()
