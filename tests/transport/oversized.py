"""Answers that are larger than they look, and how much memory the client takes for them.

Run as a program, with the name of a call, in a process of its own: prints how many MiB the call took, and what it said.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

from descheduler.cluster.live import read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.client import KubeClient, connect
from descheduler.kube.evict import EvictionClient
from descheduler.kube.leases.store import LeaseStore
from descheduler.kube.prometheus import PrometheusClient
from descheduler.transport.errors import ExchangeError
from tests.integration.fake_api import FakeApi
from tests.integration.faults import RawAnswer

_BLOCK_BYTES = 16 << 20
PODS = "/api/v1/pods"
_EVICTION = "/api/v1/namespaces/shop/pods/cart/eviction"
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/d"


def head(**fields: object) -> bytes:
    """The header of an answer with status 200; underscores of field names stand for hyphens."""
    lines = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in fields.items())
    return f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode()


def gzip_bomb(filler: bytes, mebibytes: int = 1024) -> bytes:
    """So much of `filler`, a thousandth of it when compressed; in one member that has no end."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    text = filler * (_BLOCK_BYTES // len(filler))
    start = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * ((mebibytes << 20) // _BLOCK_BYTES - 1)


def endless_chunks(part: bytes) -> Iterator[bytes]:
    """A body in chunks without end, with its header."""
    chunk = f"{len(part):x}\r\n".encode() + part + b"\r\n"
    return chain([head(Transfer_Encoding="chunked")], repeat(chunk))


def _bomb(start: bytes, filler: bytes, **fields: object) -> Callable[[], Iterable[bytes]]:
    body = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    begun = body.compress(start) + body.flush()
    bomb = begun + gzip_bomb(filler)
    return lambda: [head(Content_Encoding="gzip", Content_Length=len(bomb), **fields), bomb]


def _evict(client: KubeClient, api: FakeApi) -> object:
    api.fail_always("POST", _EVICTION, RawAnswer(_bomb(b'{"kind":"Status","message":"', b"a")))
    return EvictionClient(client).evict("shop", "cart", uid="1", grace_period_seconds=None, annotations_reason="")


def _list(client: KubeClient, api: FakeApi) -> object:
    start = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
    api.fail_always("GET", PODS, RawAnswer(_bomb(start, b"{},")))
    return list(client.list_pages(PODS))


def _list_of_nothing(client: KubeClient, api: FakeApi) -> object:
    items = b"{}," * 20_000_000
    body = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[' + items + b"{}]}"
    api.fail_always("GET", PODS, RawAnswer(lambda: [head(Content_Length=len(body)), body]))
    return list(client.list_pages(PODS))


def _streamed_list(client: KubeClient, api: FakeApi) -> object:
    start = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
    api.fail_always("GET", PODS, RawAnswer(_bomb(start, b"{},")))
    return sum(1 for _ in client.list_pages(PODS, limit=0))


def _streamed_object(client: KubeClient, api: FakeApi) -> object:
    start = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"a":"'
    api.fail_always("GET", PODS, RawAnswer(_bomb(start, b"a")))
    return sum(1 for _ in client.list_pages(PODS, limit=0))


def _list_before_its_kind(client: KubeClient, api: FakeApi) -> object:
    api.fail_always("GET", PODS, RawAnswer(_bomb(b'{"items":[', b" ")))
    return sum(1 for _ in client.list_pages(PODS, limit=0))


def _object_of_nothing(client: KubeClient, api: FakeApi) -> object:
    values = b"{}," * (5 << 20)
    object_ = b'{"metadata":{"name":"a"},"spec":{"containers":[' + values + b"{}]}}"
    body = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[' + object_ + b"]}"
    api.fail_always("GET", PODS, RawAnswer(lambda: [head(Content_Length=len(body)), body]))
    return len(read_live(client, SnapshotRequest({"Pod"}), git_version="v1.36.0").pods)


def _smallest_pods(client: KubeClient, api: FakeApi) -> object:
    api.speaks_protobuf = False
    start = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
    pods = (
        b"".join(map(b'{"metadata":{"name":"p%07d"}},'.__mod__, range(at, at + 1000))) for at in range(0, 900_000, 1000)
    )
    api.fail_always("GET", PODS, RawAnswer(lambda: chain([head(Connection="close"), start], pods)))
    return len(read_live(client, SnapshotRequest({"Pod"}), git_version="v1.36.0").pods)


def _messages(client: KubeClient, api: FakeApi) -> object:
    start = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\xff\xff\xff\xff\xff\x0f\x0a\x00"
    fields = {"Content_Type": "application/vnd.kubernetes.protobuf"}
    api.fail_always("GET", PODS, RawAnswer(_bomb(start, b"\x12\x00", **fields)))
    return sum(1 for _ in client.list_messages(PODS))


def _usage(client: KubeClient, api: FakeApi) -> object:
    api.fail_always("POST", "/api/v1/query", RawAnswer(_bomb(b'{"status":"success","data":[', b"1,")))
    return PrometheusClient(api.url).query("up")


def _lease(client: KubeClient, api: FakeApi) -> object:
    api.fail_always("GET", _LEASE, RawAnswer(_bomb(b'{"kind":"Lease","metadata":"', b"a")))
    return LeaseStore(client, "kube-system", "d").read()


CALLS = {
    "an eviction": _evict,
    "a page of a list": _list,
    "a list of nothing": _list_of_nothing,
    "a list in one go": _streamed_list,
    "an object of a list in one go": _streamed_object,
    "a list before its kind": _list_before_its_kind,
    "an object of nothing": _object_of_nothing,
    "the smallest pods": _smallest_pods,
    "a list in protobuf": _messages,
    "usage": _usage,
    "a Lease": _lease,
}


def main() -> None:
    """Makes the call that is named."""
    with FakeApi() as api, tempfile.TemporaryDirectory() as folder:
        client = connect(str(api.write_kubeconfig(Path(folder) / "config")))
        client.fetch("/version", bytes)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            said = str(CALLS[sys.argv[1]](client, api))
        except (ExchangeError, SnapshotError) as error:
            said = str(error)
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{taken >> 10} {said}")


if __name__ == "__main__":
    main()
