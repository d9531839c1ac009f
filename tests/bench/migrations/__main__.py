"""`python -m tests.bench.migrations`: hundreds of pods moved on a real control plane, and what that costs it."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.bench.measure import Usage, in_own_process
from tests.bench.migrations.run import run_and_tell
from tests.bench.migrations.table import render
from tests.bench.migrations.world import NAMESPACE, Size, make_world
from tests.cronjob.manifests import OVERLAYS
from tests.e2e.binaries import Binaries, BinariesMissingError, resolve
from tests.e2e.cluster_fill import fill
from tests.e2e.control_plane import ControlPlane, running
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.e2e.pins import CONTROL_PLANE, PEERS
from tests.e2e.program import koordinator_policy

_PROVIDERS = ("placeholder", "none", "koordinator")
_IDLE_SECONDS = 20.0
_LEASE_SECONDS = 600
"""A machine that plays 1,000 kubelets as well may be late with their leases, and nodes must not look dead for it."""


def main() -> None:
    """Fills a cluster for each provider, has pods moved, and prints what was asked of the API server."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.migrations", description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--migrations", type=int, default=500)
    parser.add_argument("--qps", type=int, default=50, help="evictQPS of the policy; default 50")
    parser.add_argument("--provider", action="append", choices=_PROVIDERS, help="by default placeholder and none")
    options = parser.parse_args()
    size = Size(options.nodes, options.pods, options.migrations)
    for provider in options.provider or _PROVIDERS[:2]:
        try:
            pins = [CONTROL_PLANE, *(each for each in PEERS if each.name == provider)]
            binaries = resolve(pins, say=_say)
        except BinariesMissingError as error:
            sys.exit(str(error))
        title = f"{size.nodes:,} nodes, {size.pods:,} pods, {size.migrations:,} to move, provider {provider}"
        _say(render(title, _measure(provider, size, binaries, qps=options.qps)))


def _measure(provider: str, size: Size, binaries: Binaries, *, qps: int) -> Mapping[str, Any]:
    scheduler = SCHEDULER if provider == "koordinator" else "default-scheduler"
    with tempfile.TemporaryDirectory(prefix="descheduler-migrations-") as name:
        folder = Path(name)

        def fill_etcd(url: str) -> None:
            fill(url, make_world(size, scheduler=scheduler))

        with running(folder / "plane", binaries, fill_etcd=fill_etcd, lease_seconds=_LEASE_SECONDS) as plane:
            _prepare(plane, provider)
            before = _pods(plane)
            figures = _figures(plane, _policy(provider, size, qps), folder / "figures.json")
            return {**figures, **_found(figures["predicted"], before, _settled(plane, len(before)))}


def _prepare(plane: ControlPlane, provider: str) -> None:
    if provider == "koordinator":
        install_koordinator(plane)
        start_scheduler(plane)
    plane.api.create(yaml.safe_load((OVERLAYS / "placeholder" / "priority-class.yaml").read_text()))


def _policy(provider: str, size: Size, qps: int) -> str:
    controller: Object = {
        "reservationProvider": provider,
        "evictQPS": qps,
        "evictBurst": qps,
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": "50%",
        "maxUnavailablePerWorkload": "50%",
        "objectLimiters": {"workload": {"duration": "0s"}},
    }
    policy = json.loads(koordinator_policy("RemovePodsViolatingNodeTaints", controller))
    return json.dumps({**policy, "maxNoOfPodsToEvictTotal": size.migrations})


def _figures(plane: ControlPlane, policy: str, report: Path) -> dict[str, Any]:
    """What the run told, and the CPU that the API server took meanwhile and takes anyhow."""
    server = plane["kube-apiserver"]
    idle_before = server.cpu_seconds
    time.sleep(_IDLE_SECONDS)
    before = server.cpu_seconds
    usage: Usage = in_own_process(run_and_tell, str(plane.kubeconfig), policy, str(report))
    figures: dict[str, Any] = json.loads(report.read_text())
    idle = (before - idle_before) / _IDLE_SECONDS
    return {
        **figures,
        "peak_bytes": usage.peak_bytes,
        "server_cpu_seconds": server.cpu_seconds - before,
        "idle_server_cpu": idle,
    }


def _pods(plane: ControlPlane) -> list[Object]:
    return plane.api.pods(NAMESPACE)


def _settled(plane: ControlPlane, number: int) -> list[Object]:
    """The pods once there are as many as before; whether they have nodes is what is to be told."""

    def all_there() -> list[Object] | None:
        pods = _pods(plane)
        return pods if len(pods) == number else None

    try:
        return wait_until("as many pods as before", all_there)
    except TimeoutError:
        return _pods(plane)


def _found(predicted: list[tuple[str, str]], before: list[Object], after: list[Object]) -> Mapping[str, Any]:
    """What has become of the pods, without a word of the program's but what it predicted.

    Nobody can tell which of two new pods of a workload came for which old one, so nodes are matched workload by
    workload.
    """
    uids = {pod["metadata"]["uid"] for pod in before}
    new = [pod for pod in after if pod["metadata"]["uid"] not in uids and pod["spec"].get("nodeName")]
    wanted = Counter((owner, name) for owner, name in predicted)
    landed = Counter((pod["metadata"]["ownerReferences"][0]["uid"], pod["spec"]["nodeName"]) for pod in new)
    return {
        "num_gone": len(uids - {pod["metadata"]["uid"] for pod in after}),
        "num_before": len(before),
        "num_after": len(after),
        "num_pending": sum(not pod["spec"].get("nodeName") for pod in after),
        "num_as_predicted": (wanted & landed).total(),
    }


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
