"""Decides every pod of the openb sample: `python -m tests.placement.plugins.device_share.openb`.

Bound pods are asked about one by one, each as if it were the only one to be evicted; pending ones are what the prover
makes of them before the first eviction.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import default_configuration
from descheduler.placement.framework.scheduling_plugin import annotations_read_by
from descheduler.placement.landings.landing import Landing
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.configured import with_profiles_for
from descheduler.placement.schedulers.koord_scheduler import KOORD_SCHEDULER
from descheduler.placement.schedulers.schedulers import Schedulers

SAMPLE = Path(__file__).parents[4] / "config" / "samples" / "openb.jsonl.gz"
_CONFIGURATION = with_profiles_for([KOORD_SCHEDULER], default_configuration(KubeVersion(), PLUGINS), PLUGINS)


class _Timed(NamedTuple):
    """A landing and how long it took."""

    landing: Landing
    seconds: float


def read_sample() -> Snapshot:
    """The sample, with all that the plugins read."""
    return read_dump([SAMPLE], SnapshotRequest(annotations=annotations_read_by(PLUGINS.values()), keep_templates=True))


def asks_for_gpus(pod: Pod) -> bool:
    """Whether it asks for a part of a GPU at least."""
    return any("gpu" in name for name in pod.spec.requests)


def landings_of(snapshot: Snapshot, pods: Iterable[Pod]) -> Iterator[_Timed]:
    """The landing of each of `pods`, all of which are bound."""
    prover = LandingProver(snapshot, configuration=_CONFIGURATION)
    for pod in pods:
        started = time.perf_counter()
        landing = prover.consider(pod)
        yield _Timed(landing, time.perf_counter() - started)


def main() -> None:
    """Prints how many pods are decided, and how."""
    snapshot = read_sample()
    bound = [pod for pod in snapshot.pods if pod.node_name]
    pending = [pod for pod in snapshot.pods if not pod.node_name]
    found = list(landings_of(snapshot, bound))
    print(f"{len(snapshot.nodes):,} nodes, {len(snapshot.devices):,} Devices, {len(snapshot.pods):,} pods")
    print(f"{len(bound):,} bound pods: {dict(Counter(each.landing.verdict.value for each in found))}")
    print(f"{len(pending):,} pending pods: {dict(_pending(snapshot, pending))}")
    print(f"undecided, by cause: {dict(Counter(each.landing.cause for each in found if each.landing.cause))}")
    with_gpus = [each for each in found if asks_for_gpus(each.landing.victim) and each.landing.node]
    nameless = sum(not each.landing.allocations for each in with_gpus)
    print(f"{len(with_gpus):,} landings with GPUs, {nameless} of them without minors")
    others = [each.seconds for each in found if not asks_for_gpus(each.landing.victim)]
    print(f"one landing with GPUs: {_times([each.seconds for each in with_gpus])}; without: {_times(others)}")


def _times(seconds: Sequence[float]) -> str:
    return f"median {statistics.median(seconds) * 1e3:.2f} ms, mean {statistics.mean(seconds) * 1e3:.2f} ms"


def _pending(snapshot: Snapshot, pods: Iterable[Pod]) -> Counter[str]:
    """What the scheduler says of pods that wait, with all that were placed before the first move."""
    prover = LandingProver(snapshot, configuration=_CONFIGURATION)
    schedulers = Schedulers(prover.cluster, _CONFIGURATION, plugins=PLUGINS)
    counts: Counter[str] = Counter()
    for pod in pods:
        evaluation = schedulers.scheduler_of(pod).evaluate(pod)
        cause = schedulers.doubt(pod) or evaluation.cause
        counts[cause or ("fits" if evaluation.fits else "fits nowhere")] += 1
    return counts


if __name__ == "__main__":
    main()
