"""Jobs that come one after the other: first the product says which pods are bound, then Volcano shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.needs import landing_annotations
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.configured import load_configuration
from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.kube_api import KubeApi, Object
from tests.e2e.peers import volcano
from tests.e2e.peers.volcano_landings.jobs import NAMESPACE, Job, Step, make_cluster, make_steps
from tests.e2e.peers.volcano_landings.tally import Tally

__all__ = ["CONFIGURATION", "run_trial"]

CONFIGURATION = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
_GROUP = "/apis/scheduling.volcano.sh/v1beta1"
_READ = (
    "/api/v1/nodes",
    f"/api/v1/namespaces/{NAMESPACE}/pods",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    f"{_GROUP}/queues",
    f"{_GROUP}/namespaces/{NAMESPACE}/podgroups",
)
_PERIOD_SECONDS = 0.5
_MOST_SECONDS = 15.0
_TOLD = 25
"""Jobs after which it is said what came so far: a trial of many jobs takes half an hour."""


def run_trial(
    folder: Path, binaries: Binaries, *, num_jobs: int, seed: int, say: Callable[[Tally], None] = lambda _tally: None
) -> Tally:
    """The counts of so many jobs, on a control plane of its own in `folder`; `say` hears of them now and then.

    No controller runs beside Volcano's scheduler, and no kubelet: pods that are bound hold their room.
    """
    tally = Tally()
    with running(folder, binaries, parts=STORE) as plane:
        volcano.install_volcano(plane)
        for obj in make_cluster():
            made = plane.api.create(obj)
            if obj["kind"] == "Node":
                plane.api.patch(made, {"spec": {"taints": None}})
        volcano.start_scheduler(plane, CONFIGURATION, schedule_period=f"{int(_PERIOD_SECONDS * 1000)}ms")
        trial = _Trial(plane, tally)
        for number, step in enumerate(make_steps(seed, num_jobs), start=1):
            trial.play(step)
            if number % _TOLD == 0:
                say(tally)
    return tally


class _Trial:
    """The jobs that are there, by name."""

    def __init__(self, plane: ControlPlane, tally: Tally) -> None:
        self._api: KubeApi = plane.api
        self._scheduler = plane["volcano-scheduler"]
        self._tally = tally
        self._jobs: dict[str, Job] = {}

    def play(self, step: Step) -> None:
        """What is said of all pods that wait, and what comes of it: once a job has ended, and once another has come."""
        if step.ends:
            gone = self._jobs.pop(step.ends)
            self._compare({gone.name}, (), "", lambda: self._delete(gone))
        job = step.comes
        self._jobs[job.name] = job
        self._tally.add_job(job.kind, job.size)
        # The PodGroup comes last: without it Volcano knows of no job.
        new = [*job.pods(), job.group()]
        self._compare(set(), new, job.name, lambda: [self._api.create(obj) for obj in new])

    def _delete(self, job: Job) -> None:
        """All at once, as Volcano sees it."""
        self._scheduler.pause()
        for obj in (job.group(), *job.pods()):
            self._api.delete(obj, grace_seconds=0)
        self._scheduler.resume()

    def _compare(self, without: set[str], new: Sequence[Object], new_job: str, change: Callable[[], object]) -> None:
        objects = [each for each in self._read() if _job_of(each) not in without]
        waiting = [_name(pod) for pod in (*objects, *new) if pod["kind"] == "Pod" and not pod["spec"].get("nodeName")]
        said = _expected([*objects, *new])
        change()
        came = self._came(waiting, len(said))
        for name, job in self._jobs.items():
            own = [pod for pod in waiting if pod.rpartition("-")[0] == name]
            if own:
                self._tally.compare(
                    job.kind,
                    name,
                    {pod: node for pod, node in said.items() if pod in own},
                    {pod: node for pod, node in came.items() if pod in own},
                    num_waiting=len(own),
                    is_new=name == new_job,
                )

    def _read(self) -> list[Object]:
        return [item for path in _READ for item in self._api.items(path)]

    def _came(self, waiting: Sequence[str], num_expected: int) -> dict[str, str]:
        """The nodes of those of the pods that are bound: as many as expected, or what there is after a while; and two
        cycles later."""
        until = time.monotonic() + _MOST_SECONDS
        while len(self._bound(waiting)) < num_expected and time.monotonic() < until:
            time.sleep(_PERIOD_SECONDS / 5)
        time.sleep(_PERIOD_SECONDS * 2.5)
        return self._bound(waiting)

    def _bound(self, names: Sequence[str]) -> dict[str, str]:
        pods = {_name(pod): pod["spec"].get("nodeName", "") for pod in self._api.pods(NAMESPACE)}
        return {name: pods[name] for name in names if pods.get(name)}


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _job_of(obj: Object) -> str:
    """The job of a pod or of a PodGroup; empty for anything else."""
    if obj["kind"] == "PodGroup":
        return _name(obj)
    return _name(obj).rpartition("-")[0] if obj["kind"] == "Pod" else ""


def _expected(objects: Sequence[Object]) -> dict[str, str]:
    """The pods of those that wait that are expected to be bound, each with its node."""
    snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))
    configuration = load_configuration(CONFIGURATION, KubeVersion(), PLUGINS)
    return {pod.name: node for pod, node in LandingProver(snapshot, configuration=configuration).pending_nodes()}
