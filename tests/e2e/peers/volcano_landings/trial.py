"""Jobs come one after the other: first the product says which pods are bound and evicted, then Volcano shows it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
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
from tests.e2e.peers.volcano_landings.victims import possible_victims

__all__ = ["CONFIGURATION", "run_trial"]

CONFIGURATION = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
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
_HELD = CONFIGURATION.replace("enqueue, allocate, preempt, reclaim, ", "")
"""With it the scheduler does nothing, as no pod goes without requests."""
_GROUP = "/apis/scheduling.volcano.sh/v1beta1"
_READ = (
    "/api/v1/nodes",
    f"/api/v1/namespaces/{NAMESPACE}/pods",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    f"{_GROUP}/queues",
    f"{_GROUP}/namespaces/{NAMESPACE}/podgroups",
)
_PERIOD_SECONDS = 0.25
_HOLDING_SECONDS = 3 * _PERIOD_SECONDS
"""By then the scheduler has read its configuration, or objects, and has ended the cycle that ran."""
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
        self._configuration = plane.folder / "volcano-scheduler.conf"
        self._tally = tally
        self._jobs: dict[str, Job] = {}

    def play(self, step: Step) -> None:
        """What is said of all pods that wait, and what comes of it: once a job has ended, and once another has come."""
        if step.ends:
            del self._jobs[step.ends]
            self._compare(lambda: self._delete({step.ends}))
        job = step.comes
        self._jobs[job.name] = job
        self._tally.add_job(job.kind, job.size)
        self._compare(lambda: [self._api.create(obj) for obj in (job.group(), *job.pods())], job.name)

    def _delete(self, names: Collection[str]) -> None:
        """Removes these pods and PodGroups, and the pods of these PodGroups."""
        for obj in self._read():
            if obj["kind"] in ("Pod", "PodGroup") and {_job_of(obj), _name(obj)} & set(names):
                self._api.delete(obj, grace_seconds=0)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """A context in which no pod is bound or evicted: whatever changes there, Volcano sees all at once.

        Events of pods and of PodGroups come over connections of their own, and a cycle may begin between any two.
        """
        self._configure(_HELD)
        yield
        time.sleep(_HOLDING_SECONDS)
        self._configure(CONFIGURATION)

    def _configure(self, text: str) -> None:
        """Has the scheduler read `text`, which it sees whole or not at all."""
        part = self._configuration.with_suffix(".part")
        part.write_text(text)
        os.replace(part, self._configuration)
        time.sleep(_HOLDING_SECONDS if text == _HELD else 0)

    def _compare(self, change: Callable[[], object], new_job: str = "") -> None:
        with self._held():
            change()
            objects = self._read()
            waiting = [_name(pod) for pod in objects if pod["kind"] == "Pod" and not pod["spec"].get("nodeName")]
            said, victims = _expected(objects), possible_victims(objects, CONFIGURATION)
        came = self._came(waiting, len(said), min(map(len, victims)))
        for name, job in self._jobs.items():
            own = [pod for pod in waiting if _owner(pod) == name]
            if own:
                self._tally.compare(
                    job.kind,
                    name,
                    {pod: node for pod, node in said.items() if pod in own},
                    {pod: node for pod, node in came.items() if pod in own},
                    num_waiting=len(own),
                    is_new=name == new_job,
                )
        gone = self._ending()
        self._tally.compare_victims({pod: self._jobs[_owner(pod)].kind for pod in gone}, victims)
        if gone:  # as a kubelet ends them
            self._compare(lambda: self._delete(gone))

    def _ending(self) -> list[str]:
        return [_name(pod) for pod in self._api.pods(NAMESPACE) if "deletionTimestamp" in pod["metadata"]]

    def _read(self) -> list[Object]:
        return [item for path in _READ for item in self._api.items(path)]

    def _came(self, waiting: Sequence[str], num_expected: int, num_victims: int) -> dict[str, str]:
        """The nodes of those of the pods that are bound: as many as expected, or what there is after a while; and two
        cycles later. As many pods are evicted by then as are expected at least, if ever."""
        until = time.monotonic() + _MOST_SECONDS
        while time.monotonic() < until and (
            len(self._bound(waiting)) < num_expected or len(self._ending()) < num_victims
        ):
            time.sleep(_PERIOD_SECONDS / 5)
        time.sleep(_PERIOD_SECONDS * 2.5)
        return self._bound(waiting)

    def _bound(self, names: Sequence[str]) -> dict[str, str]:
        pods = {_name(pod): pod["spec"].get("nodeName", "") for pod in self._api.pods(NAMESPACE)}
        return {name: pods[name] for name in names if pods.get(name)}


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _owner(pod: str) -> str:
    return pod.rpartition("-")[0]


def _job_of(obj: Object) -> str:
    """The job of a pod or of a PodGroup; empty for anything else."""
    if obj["kind"] == "PodGroup":
        return _name(obj)
    return _owner(_name(obj)) if obj["kind"] == "Pod" else ""


def _expected(objects: Sequence[Object]) -> dict[str, str]:
    """The pods of those that wait that are expected to be bound, each with its node."""
    snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))
    configuration = load_configuration(CONFIGURATION, KubeVersion(), PLUGINS)
    return {pod.name: node for pod, node in LandingProver(snapshot, configuration=configuration).pending_nodes()}
