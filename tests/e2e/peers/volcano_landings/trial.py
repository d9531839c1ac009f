"""Jobs come one after the other: first the product says which pods are bound and evicted, then Volcano shows it."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
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
from tests.e2e.peers.volcano_landings.plays import Play, Plays
from tests.e2e.peers.volcano_landings.tally import Tally
from tests.e2e.processes import free_port

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
_QUIET_SECONDS, _PATIENT_SECONDS = 1.0, 20.0
"""How long nothing changes before a step is over: where it came as some play has it, and where it did not."""
_TOLD = 25
"""Jobs after which it is said what came so far: a trial of many jobs takes half an hour."""


def run_trial(
    folder: Path,
    binaries: Binaries,
    *,
    num_jobs: int,
    seed: int,
    say: Callable[[Tally], None] = lambda _tally: None,
    dumps: Path | None = None,
) -> Tally:
    """The counts of so many jobs, on a control plane of its own in `folder`; `say` hears of them now and then.

    No controller runs beside Volcano's scheduler. Of a kubelet as much is played as Volcano sees. What comes otherwise
    than was said is written to the folder `dumps`: the objects before the step, and what came.
    """
    tally = Tally()
    with running(folder, binaries, parts=STORE) as plane:
        volcano.install_volcano(plane)
        metrics_port = free_port()
        volcano.start_scheduler(
            plane, CONFIGURATION, schedule_period=f"{int(_PERIOD_SECONDS * 1000)}ms", metrics_port=metrics_port
        )
        for obj in make_cluster():
            made = plane.api.create(obj)
            if obj["kind"] == "Node":
                plane.api.patch(made, {"spec": {"taints": None}})
                # Volcano tries nodes in the order in which it came to know them.
                volcano.wait_for_cycles(metrics_port)
        trial = _Trial(plane, tally, metrics_port, dumps)
        for number, step in enumerate(make_steps(seed, num_jobs), start=1):
            trial.play(step)
            if number % _TOLD == 0:
                say(tally)
    return tally


class _Trial:
    """The jobs that are there, by name."""

    def __init__(self, plane: ControlPlane, tally: Tally, metrics_port: int, dumps: Path | None) -> None:
        self._api: KubeApi = plane.api
        self._configuration = plane.folder / "volcano-scheduler.conf"
        self._tally = tally
        self._metrics_port = metrics_port
        self._dumps = dumps
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

    def _start_bound(self) -> None:
        """Has the pods run that are bound, as a kubelet does."""
        for pod in self._api.pods(NAMESPACE):
            if pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                self._api.patch(pod, {"status": {"phase": "Running"}}, subresource="status")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """A context in which no pod is bound or evicted: whatever changes there, Volcano sees all at once.

        Events of pods and of PodGroups come over connections of their own, and a cycle may begin between any two.
        """
        self._configure(_HELD)
        volcano.wait_for_cycles(self._metrics_port)
        yield
        self._configure(CONFIGURATION)

    def _configure(self, text: str) -> None:
        """Has the scheduler read `text`, which it sees whole or not at all."""
        part = self._configuration.with_suffix(".part")
        part.write_text(text)
        os.replace(part, self._configuration)

    def _compare(self, change: Callable[[], object], new_job: str = "") -> None:
        with self._held():
            change()
            self._start_bound()
            volcano.wait_for_cycles(self._metrics_port)
            objects = self._read()
            plays = Plays(objects, CONFIGURATION)
        waiting = [_name(pod) for pod in objects if pod["kind"] == "Pod" and not pod["spec"].get("nodeName")]
        came = self._came(waiting, plays)
        kinds = {name: job.kind for name, job in self._jobs.items()}
        for pod in waiting:
            self._tally.add_waiting(kinds[_owner(pod)], came.nodes.get(pod, ""), is_new=_owner(pod) == new_job)
        if not self._tally.add_step(plays, came, {pod: kinds[_owner(pod)] for pod in came.evicted}):
            self._dump(objects, came)
        are_untouched = not any(play.evicted for play in plays.said)
        if are_untouched and not self._tally.add_proof(plays, Counter(map(_owner, _proven(objects)))):
            self._dump(objects, came)
        if came.evicted:  # as a kubelet ends them
            self._compare(lambda: self._delete(came.evicted))

    def _read(self) -> list[Object]:
        return [item for path in _READ for item in self._api.items(path)]

    def _came(self, waiting: Collection[str], plays: Plays) -> Play:
        """Which of the pods that wait are bound, and which pods are evicted, once nothing changes any more."""
        while True:
            came = self._settled(waiting, _QUIET_SECONDS)
            if not plays.include(came):
                came = self._settled(waiting, _PATIENT_SECONDS)
            if self._seen(waiting).is_like(came):
                return came

    def _settled(self, waiting: Collection[str], seconds: float) -> Play:
        """The same once nothing has changed for so long, and for some cycles."""
        seen, since = self._seen(waiting), time.monotonic()
        while time.monotonic() < since + seconds:
            volcano.wait_for_cycles(self._metrics_port)
            before, seen = seen, self._seen(waiting)
            if not seen.is_like(before):
                since = time.monotonic()
        return seen

    def _seen(self, waiting: Collection[str]) -> Play:
        pods = self._api.pods(NAMESPACE)
        nodes = {_name(pod): pod["spec"].get("nodeName", "") for pod in pods}
        bound = {name: nodes[name] for name in waiting if nodes.get(name)}
        return Play(bound, [_name(pod) for pod in pods if "deletionTimestamp" in pod["metadata"]])

    def _dump(self, objects: Sequence[Object], came: Play) -> None:
        if self._dumps is not None:
            file = self._dumps / f"against-{len(self._tally.contradictions)}.json"
            file.write_text(json.dumps({"objects": objects, "bound": came.nodes, "evicted": came.evicted}))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _owner(pod: str) -> str:
    return pod.rpartition("-")[0]


def _job_of(obj: Object) -> str:
    """The job of a pod or of a PodGroup; empty for anything else."""
    if obj["kind"] == "PodGroup":
        return _name(obj)
    return _owner(_name(obj)) if obj["kind"] == "Pod" else ""


def _proven(objects: Sequence[Object]) -> Iterator[str]:
    """The pods of those that wait that the proof of landings expects to be bound."""
    snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))
    configuration = load_configuration(CONFIGURATION, KubeVersion(), PLUGINS)
    return (pod.name for pod, _ in LandingProver(snapshot, configuration=configuration).pending_nodes())
