"""Decoding a paged list of pods: this program, `json`, and the official client's models."""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.request import SnapshotRequest
from tests.bench.measure import in_own_process, megabytes
from tests.worlds.generate import generate_cluster

_NODES_PER_POD = 5000 / 150_000
_RUNS = 5
"""The best one counts: whatever else the machine does only makes runs slower."""


def _pod_pages(pods: int) -> Iterator[bytes]:
    """Pages as a live run asks for them, made by another process, which rests while a page is decoded."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    maker = context.Process(target=_make_pages, args=(theirs, pods))
    maker.start()
    theirs.close()
    while page := _next_page(ours):
        yield page
    maker.join()


def _next_page(pipe: Connection) -> bytes:
    pipe.send_bytes(b"next")
    return pipe.recv_bytes()


def _make_pages(pipe: Connection, pods: int) -> None:
    size = KINDS["Pod"].page_size
    pages = generate_cluster(nodes=int(pods * _NODES_PER_POD), pods=pods, seed=1, page_size=size)
    pods_only = (page for page in pages if page.startswith(b'{"kind":"PodList"'))
    page = b"not the last"
    while page:
        pipe.recv_bytes()
        page = next(pods_only, b"")
        pipe.send_bytes(page)


def _decode(pods: int) -> Sequence[float]:
    """Pods, seconds of decoding alone, and bytes of resident memory that decoding added."""
    builder = SnapshotBuilder("bench", SnapshotRequest(keep_conditions=False))
    seconds, before = 0.0, 0
    with paused_gc():
        for page in _pod_pages(pods):
            before = before or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the first page is there already
            started = time.perf_counter()
            builder.add_page(KINDS["Pod"], page)
            seconds += time.perf_counter() - started
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return len(builder.pods), seconds, added * 1024


def _decode_json(pods: int) -> Sequence[float]:
    seconds, decoded = 0.0, 0
    for page in _pod_pages(pods):
        started = time.perf_counter()
        decoded += len(json.loads(page)["items"])
        seconds += time.perf_counter() - started
    return decoded, seconds


def _decode_official(pods: int) -> Sequence[float]:
    from kubernetes.client import ApiClient

    api = ApiClient()
    seconds, decoded = 0.0, 0
    for page in _pod_pages(pods):
        started = time.perf_counter()
        decoded += len(api.deserialize(page.decode(), "V1PodList", "application/json").items)
        seconds += time.perf_counter() - started
    return decoded, seconds


def report(pods: int, slice_of: int) -> None:
    """Prints pods a second of all three, and the memory that the decoded pods take."""
    runs = [in_own_process(_decode, pods).figures for _ in range(_RUNS)]
    rates = sorted(count / seconds for count, seconds, _ in runs)
    rate, added = rates[-1], max(added for _, _, added in runs)
    others = ", ".join(f"{other:,.0f}" for other in rates[:-1])
    print(f"decode {pods:,} pods, paged: {rate:,.0f} pods/s, {megabytes(int(added))} beside the page; others {others}")
    for name, work in (("json.loads", _decode_json), ("official client", _decode_official)):
        other_count, other_seconds = in_own_process(work, slice_of).figures
        other_rate = other_count / other_seconds
        print(f"  {name}, {other_count:,.0f} pods: {other_rate:,.0f} pods/s ({rate / other_rate:.1f} times slower)")
