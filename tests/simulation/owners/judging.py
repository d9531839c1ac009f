"""A random cluster and policy: what the simulation comes to, beside what the live cluster comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from random import Random
from typing import NamedTuple

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import JobFacts
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.simulation.carrying_out import CarriedOut, carried_out
from tests.builders import NOW, Object
from tests.simulation.owners.jobs import INDEX, INDEX_FAILURES, Jobs
from tests.simulation.owners.live import Live, LivePod, milli
from tests.simulation.owners.making import Maker
from tests.simulation.owners.reading import live_cluster
from tests.simulation.owners.sets import StatefulSets
from tests.simulation.owners.work import add_job
from tests.simulation.owners.workloads import WORKLOADS

_AN_HOUR = timedelta(hours=1)
_MICRO = 10**6
_UNKNOWN_KINDS = ("Workflow", "TaskRun")


class Found(NamedTuple):
    """What one seed comes to: differences, broken promises, and how many pods were evicted and refused."""

    problems: tuple[str, ...]
    num_evicted: int
    num_refused: int


class _Key(NamedTuple):
    """A pod, as far as pods of its owner can be told apart."""

    name: str
    place: str
    cpu_milli: int
    failures: str


def findings(seed: int) -> Found:
    """What differs in the cluster of this seed, and which promises its run breaks, if it verifies landings."""
    random = Random(seed)
    objects = _objects(Maker(random))
    verifies = random.random() < 0.5
    snapshot = _snapshot(objects)
    decisions = decide(
        load_policy(_policy(verifies), REGISTRY), snapshot, now=NOW, this_round=Round(most_assessed=len(snapshot.pods))
    )
    before, live = live_cluster(objects, random), live_cluster(objects, random)
    for move in decisions.leaving:
        live.evict(move.pod.namespace, move.pod.name)
    live.run(_AN_HOUR.total_seconds())
    problems = list(_differences(decisions, carried_out(decisions, _AN_HOUR), live))
    if verifies:
        problems += _broken(before, live, decisions)
    return Found(tuple(problems), len(decisions.leaving), len(decisions.refusals))


def _objects(maker: Maker) -> list[Object]:
    maker.objects.append(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "there"}, "value": 0}
    )
    for _ in range(maker.random.randint(4, 8)):
        maker.random.choice((add_job, add_job, *WORKLOADS))(maker)
    return maker.objects


def _snapshot(objects: list[Object]) -> Snapshot:
    return snapshot_from_objects(objects, SnapshotRequest(keep_templates=True))


def _policy(verifies: bool) -> Object:
    protections = {"defaultDisabled": ["DaemonSetPods", "FailedBarePods"]}
    configs = [
        {"name": "DefaultEvictor", "args": {"podProtections": protections}},
        {"name": "RemovePodsHavingTooManyRestarts", "args": {"podRestartThreshold": 100}},
        *([{"name": "PlacementVerification", "args": {}}] if verifies else []),
    ]
    plugins: Object = {"deschedule": {"enabled": ["RemovePodsHavingTooManyRestarts"]}}
    if verifies:
        plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    profile = {"name": "p", "pluginConfig": configs, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def _differences(decisions: Decisions, simulated: CarriedOut, live: Live) -> Iterator[str]:
    """Owners that lost pods and have other ones now than they have live."""
    owners = {move.pod.controller for move in decisions.leaving}
    for owner in sorted((each for each in owners if each is not None), key=lambda each: each.uid):
        if owner.kind in _UNKNOWN_KINDS:
            continue
        evicted = ", ".join(move.pod.name for move in decisions.leaving if move.pod.controller == owner)
        ours = Counter(_key(pod) for pod in simulated.snapshot.pods if _is_of(pod, owner.uid))
        theirs = Counter(_live_key(pod, owner.kind) for pod in live.of(owner.uid) if pod.is_active)
        if ours != theirs:
            yield f"{owner.kind} {owner.uid} without {evicted}: {_text(ours - theirs)}, live {_text(theirs - ours)}"
        job = next((each for each in live.controllers if each.uid == owner.uid and isinstance(each, Jobs)), None)
        workload = simulated.snapshot.workloads.get(owner.uid)
        if job is not None and workload is not None and workload.job is not None:
            yield from (f"Job {owner.uid} without {evicted}: {each}" for each in _job_differences(workload.job, job))


def _is_of(pod: Pod, uid: str) -> bool:
    is_active = not pod.is_terminal and not pod.is_terminating
    return is_active and pod.controller is not None and pod.controller.uid == uid


def _key(pod: Pod) -> _Key:
    kind = "" if pod.controller is None else pod.controller.kind
    name = pod.name if kind == "StatefulSet" else pod.labels.get(INDEX, "")
    return _Key(
        name,
        pod.node_name if kind == "DaemonSet" and pod.node_name else _place(pod.node_name),
        pod.spec.requests.get("cpu", 0) // _MICRO,
        pod.annotations.get(INDEX_FAILURES, "") if name and kind == "Job" else "",
    )


def _live_key(pod: LivePod, kind: str) -> _Key:
    name = pod.name if kind == "StatefulSet" else pod.labels.get(INDEX, "")
    return _Key(
        name,
        pod.node if kind == "DaemonSet" and pod.node else _place(pod.node),
        milli(pod.spec),
        pod.annotations.get(INDEX_FAILURES, "") if name and kind == "Job" else "",
    )


def _place(node: str) -> str:
    return "bound" if node else "pending"


def _text(pods: Counter[_Key]) -> str:
    return " and ".join(f"{number} {' '.join(map(str, key))}" for key, number in sorted(pods.items())) or "nothing"


def _job_differences(ours: JobFacts, theirs: Jobs) -> Iterator[str]:
    has_ended = bool(ours.conditions & {"Failed", "Complete"})
    if has_ended != bool(theirs.ended):
        yield f"conditions {sorted(ours.conditions)}, live {theirs.ended or 'none'}"
    elif not has_ended and (ours.num_failed, set(ours.failed_indexes)) != (theirs.num_failed, theirs.failed):
        live = f"{theirs.num_failed} failed, indexes {sorted(theirs.failed)}"
        yield f"{ours.num_failed} failed, indexes {sorted(ours.failed_indexes)}, live {live}"


def _broken(before: Live, after: Live, decisions: Decisions) -> Iterator[str]:
    """Promises of a run that verifies landings: no Job fails, no set is left short, no pod pending or lost for all
    that anybody knows."""
    for move in decisions.leaving:
        if move.pod.controller is not None and move.pod.controller.kind in _UNKNOWN_KINDS:
            yield f"nobody knows whether {move.pod.key} comes back"
    touched = {move.pod.controller.uid for move in decisions.leaving if move.pod.controller is not None}
    for old, new in zip(before.controllers, after.controllers, strict=True):
        if new.uid not in touched:
            continue
        if isinstance(old, Jobs) and isinstance(new, Jobs) and (new.ended or new.failed != old.failed):
            yield f"Job {new.uid} ends ({new.ended}), failed indexes {sorted(new.failed)}"
        if isinstance(new, StatefulSets) and _num_ready(after, new.uid) < _num_ready(before, new.uid):
            yield f"StatefulSet {new.uid} has fewer ready pods"
        if isinstance(new, StatefulSets) and new.is_ordered and _num_lost(decisions, new) > 1:
            yield f"StatefulSet {new.uid} loses several pods, which come one after the other"
        known = {pod.name for pod in before.of(new.uid)}
        # What a set lacked before is not held against the run.
        ours = [pod for pod in after.of(new.uid) if pod.name in known or not isinstance(new, StatefulSets)]
        if _num_pending(ours) > _num_pending(before.of(new.uid)):
            yield f"{new.uid} has pods that wait"


def _num_ready(live: Live, uid: str) -> int:
    return sum(pod.ready_at is not None and pod.is_active for pod in live.of(uid))


def _num_lost(decisions: Decisions, owner: StatefulSets) -> int:
    """How many pods that come back a StatefulSet loses."""
    lost = [move.pod for move in decisions.leaving if move.pod.controller and move.pod.controller.uid == owner.uid]
    return sum(owner.wants(pod.name) for pod in lost)


def _num_pending(pods: Iterable[LivePod]) -> int:
    return sum(not pod.node and pod.is_active for pod in pods)
