"""`python -m tests.bench.volcano [--nodes N]`: one session of Volcano over a large batch cluster."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.actions.table import run_cycle
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.worlds import Object, group, node, pods, queue, snapshot_of

__all__ = ["report"]

_NUM_QUEUES, _JOB_SIZE, _PODS_A_NODE, _PENDING = 10, 40, 4, 4
"""Every fourth job is pending."""
_PLUGINS = (
    ("priority", "gang", "conformance"),
    ("drf", "predicates", "proportion", "nodeorder", "binpack"),
)


def _objects(num_nodes: int) -> Iterator[Object]:
    for number in range(_NUM_QUEUES):
        yield queue(f"q{number}", weight=number % 3 + 1)
    for number in range(num_nodes):
        yield node(f"n{number:05}", cpu="16", memory="64Gi")
    for number in range(num_nodes * _PODS_A_NODE // _JOB_SIZE):
        is_pending = number % _PENDING == 0
        phase = "Pending" if is_pending else "Running"
        yield group(f"j{number}", least=_JOB_SIZE // 2, queue=f"q{number % _NUM_QUEUES}", phase=phase)
        yield from pods(f"j{number}", _JOB_SIZE, memory="2Gi", on="" if is_pending else f"n{number % num_nodes:05}")


def report(num_nodes: int = 5000) -> Sequence[float]:
    """Prints how long opening and running a session takes, and returns its seconds: wall and CPU."""
    snapshot = snapshot_of(_objects(num_nodes))
    document = {
        "actions": "enqueue, allocate, preempt, reclaim, backfill",
        "tiers": [{"plugins": [{"name": name} for name in tier]} for tier in _PLUGINS],
    }
    configuration = load_volcano_configuration(document, modelled=VOLCANO_PLUGINS)
    wall, cpu = time.perf_counter(), time.process_time()
    session = Session(ShadowCluster(snapshot), configuration, plugins=VOLCANO_PLUGINS)
    run_cycle(session)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"session of Volcano, {num_nodes:,} nodes, {len(snapshot.pods):,} pods, {len(session.jobs)} jobs,"
        f" {len(session.binds):,} bound: {wall:.1f} s wall, {cpu:.1f} s CPU"
    )
    return wall, cpu


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.volcano")
    parser.add_argument("--nodes", type=int, default=5000)
    report(parser.parse_args().nodes)
