"""Large clusters that stand still: an API server over etcd, and no controller that would change anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.measure import in_own_process
from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.kube_api import KubeApi


@contextmanager
def filled_cluster(folder: Path, binaries: Binaries, *, nodes: int, pods: int) -> Iterator[ControlPlane]:
    """A control plane below `folder` whose cluster is generated, written straight into etcd."""

    def fill_etcd(url: str) -> None:
        # In a process of its own: what this one has ever held counts as memory of the programs that it starts.
        in_own_process(_fill, url, nodes, pods)

    with running(folder, binaries, parts=STORE, fill_etcd=fill_etcd) as plane:
        yield plane


def stir(api: KubeApi, number: int) -> None:
    """Changes one pod, as happens every second in a real cluster.

    An API server drops its copies of older states with every compaction. Where nothing has changed since then, it
    reads each page of a list from etcd instead, which takes several times as long.
    """
    pod = api.items("/api/v1/pods", limit="1")[0]
    api.patch({"apiVersion": "v1", "kind": "Pod", **pod}, {"metadata": {"annotations": {"bench/run": str(number)}}})


def settle(api: KubeApi) -> None:
    """Has the API server collect its garbage now.

    Once in some gigabytes, and every two minutes, it does so anyhow: at 150,000 pods for as much as listing them takes,
    and in whose run that falls is chance.
    """
    api.request("GET", "/debug/pprof/heap?gc=1")


def _fill(url: str, nodes: int, pods: int) -> Sequence[float]:
    from tests.e2e.cluster_fill import fill, generated

    return [fill(url, generated(nodes=nodes, pods=pods, seed=1))]
