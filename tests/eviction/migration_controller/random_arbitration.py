"""`python -m tests.eviction.migration_controller.random_arbitration --worlds 10000`: arbitration over random worlds.

Counts again, in plain arithmetic, what is on the move after each arbitration, and says which promise a world broke.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome, arbitrate
from descheduler.eviction.migration_controller.args import EVICTION_GATES, MigrationControllerArgs
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.eviction_annotations import PASSED_ARBITRATION_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import EVICT_ANNOTATION, Pod
from tests.builders import NOW, make_node
from tests.eviction.handles import make_handle
from tests.eviction.migration_controller.koordinator_clusters import make_args, make_job, make_koord_pod, make_workload

_LET_GO = (JobOutcome.STARTED, JobOutcome.HELD)
_OWNERS = {
    "ReplicaSet/new": 6,
    "ReplicaSet/old": 2,
    "ReplicaSet/alone": 6,
    "StatefulSet/db": 4,
    "ReplicaSet/gone": 1,
    "Job/etl": 2,
    "": 1,
}
"""Owner of a pod → how often."""
_COUNTS = (None, 0, 1, 2, 3)
_SHARES = (None, 1, 2, 3, "30%", "50%", "100%")


@dataclass(frozen=True)
class World:
    """A cluster with jobs in every state, and the arguments of a MigrationController."""

    pods: Sequence[Pod]
    workloads: Mapping[str, Workload]
    jobs: Sequence[MigrationJob]
    args: MigrationControllerArgs

    def handle(self) -> Handle:
        """A handle over it, from which nothing was booked yet."""
        nodes = [make_node(name) for name in "abc"]
        return make_handle(nodes, self.pods, kind="DeschedulerConfiguration", workloads=self.workloads)

    def arbitrate(self, jobs: Sequence[MigrationJob]) -> tuple[JobDecision, ...]:
        """What becomes of `jobs`."""
        view: ClusterView = self.handle().view
        return arbitrate(jobs, view, self.args, now=NOW)


def make_world(seed: int) -> World:
    """The world of a seed."""
    random = Random(seed)
    workloads = [
        make_workload(random.choice((0, 1, 2, 3, 5, 8, 12)), kind=kind, name=name, deployment=deployment)
        for kind, name, deployment in (
            ("ReplicaSet", "new", "web"),
            ("ReplicaSet", "old", "web"),
            ("Deployment", "web", ""),
            ("ReplicaSet", "alone", ""),
            ("StatefulSet", "db", ""),
        )
    ]
    pods = [_make_pod(random, f"p{number:02}") for number in range(random.randint(1, 24))]
    jobs = [job for number in range(random.randint(1, 16)) for job in [_make_job(random, f"j{number:02}", pods)]]
    return World(pods, {workload.uid: workload for workload in workloads}, jobs, _random_args(random))


def _make_pod(random: Random, name: str) -> Pod:
    owners = (
        "ReplicaSet/new",
        "ReplicaSet/old",
        "ReplicaSet/alone",
        "StatefulSet/db",
        "ReplicaSet/gone",
        "Job/etl",
        "",
    )
    owner = random.choices(owners, (6, 2, 6, 4, 1, 2, 1))[0]
    return make_koord_pod(
        name,
        namespace="default" if random.random() < 0.8 else "other",
        node=random.choice(("a", "a", "b", "c", "")),
        owners=[owner] if owner else [],
        priority=random.choice((None, 0, 3500, 5500, 9500)),
        ready=random.random() < 0.9,
        deleted=1 if random.random() < 0.05 else None,
        phase="Failed" if random.random() < 0.03 else "Running",
        annotations={EVICT_ANNOTATION: ""} if random.random() < 0.1 else None,
        age=random.choice((60, 3600)),
    )


def _make_job(random: Random, name: str, pods: Sequence[Pod]) -> MigrationJob:
    pod = random.choice(pods) if random.random() < 0.95 else make_koord_pod("gone")
    return make_job(
        pod,
        name=name,
        phase=random.choices(("", "Pending", "Running", "Succeeded", "Failed"), (10, 2, 2, 1, 1))[0],
        uid=random.choices((pod.uid, "", "another"), (6, 6, 1))[0],
        age=random.choice((1, 30, 30, 90, 400)),
        ttl=random.choice((None, timedelta(minutes=5))),
        is_paused=random.random() < 0.05,
        mode=random.choice(("", "EvictDirectly", "ReservationFirst")),
        annotations={
            key: text
            for key, text, share in ((EVICT_ANNOTATION, "", 0.1), (PASSED_ARBITRATION_ANNOTATION, "true", 0.05))
            if random.random() < share
        },
    )


def _random_args(random: Random) -> MigrationControllerArgs:
    limiters: dict[str, Any] = {"workload": {"duration": timedelta(minutes=random.choice((0, 5)))}}
    if random.random() < 0.3:
        limiters["namespace"] = {"duration": timedelta(minutes=5), "maxMigrating": 2, "burst": random.choice((1, 2))}
    return make_args(
        maxMigratingGlobally=random.choice((None, None, 1, 3)),
        maxMigratingPerNode=random.choice(_COUNTS),
        maxMigratingPerNamespace=random.choice(_COUNTS),
        maxMigratingPerWorkload=random.choice(_SHARES),
        maxUnavailablePerWorkload=random.choice(_SHARES),
        skipCheckExpectedReplicas=random.random() < 0.3,
        skipEvictionGates=random.sample(EVICTION_GATES, random.choice((0, 0, 0, 1, 2))),
        evictAllBarePods=random.random() < 0.5,
        defaultJobMode=random.choice(("EvictDirectly", "ReservationFirst")),
        objectLimiters=limiters,
    )


def faults_of(world: World) -> Iterator[str]:
    """What one world does not keep: a limit, a decision a job, one answer whatever the order of the list, an end."""
    decisions = world.arbitrate(world.jobs)
    if Counter(d.job.name for d in decisions) != Counter(job.name for job in world.jobs if job.is_waiting):
        yield "not one decision for each waiting job"
    if world.arbitrate(world.jobs[::-1]) != decisions:
        yield "other decisions for the same jobs in another order"
    if any(d.outcome in _LET_GO for d in world.arbitrate(_after(world.jobs, decisions))):
        yield "a job that waited is let go although nothing has changed"
    yield from _broken_limits(world, decisions)
    yield from _broken_limiters(world, decisions)
    if _let_go_as_candidates(world) != _let_go_as_jobs(world):
        yield "candidates and jobs fare differently"


def _after(jobs: Sequence[MigrationJob], decisions: Sequence[JobDecision]) -> list[MigrationJob]:
    """The jobs once the decisions are carried out."""
    outcomes = {decision.job.name: decision for decision in decisions}
    return [_carried_out(job, outcomes.get(job.name)) for job in jobs]


def _carried_out(job: MigrationJob, decision: JobDecision | None) -> MigrationJob:
    if decision is not None and decision.status is not None:
        return msgspec.structs.replace(job, phase=str(decision.status.phase))
    if decision is not None and decision.has_passed:
        return msgspec.structs.replace(job, annotations={**job.annotations, PASSED_ARBITRATION_ANNOTATION: "true"})
    return job


def _broken_limits(world: World, decisions: Sequence[JobDecision]) -> Iterator[str]:
    """Limits that what was let go has gone beyond, but for pods that bypass them all."""
    args, skipped = world.args, world.args.skip_eviction_gates
    before = _under_way(world)
    new = {d.pod for d in decisions if d.outcome in _LET_GO and d.pod is not None and d.pod not in before}
    added = {pod for pod in new if EVICT_ANNOTATION not in pod.annotations}
    ghosts = {(job.pod_namespace, job.pod_name) for job in world.jobs if job.is_under_way} - {
        (pod.namespace, pod.name) for pod in before
    }
    in_namespace = Counter(pod.namespace for pod in before) + Counter(namespace for namespace, _ in ghosts)
    on_node = Counter(pod.node_name for pod in before)
    yield from _beyond(
        "MaxMigratingGlobally", args.max_migrating_globally, len(before) + len(ghosts), len(added), skipped
    )
    for namespace, number in Counter(pod.namespace for pod in added).items():
        limit = args.max_migrating_per_namespace
        yield from _beyond("MaxMigratingPerNamespace", limit, in_namespace[namespace], number, skipped)
    for node, number in Counter(pod.node_name for pod in added if pod.node_name).items():
        yield from _beyond("MaxMigratingPerNode", args.max_migrating_per_node, on_node[node], number, skipped)
    for uid in {pod.controller.uid for pod in added if pod.controller is not None}:
        yield from _broken_workload(world, uid, _of(uid, before), _of(uid, added))


def _under_way(world: World) -> set[Pod]:
    """Pods of jobs that are under way, known by name or by UID."""
    jobs = [job for job in world.jobs if job.is_under_way]
    names, uids = {(job.pod_namespace, job.pod_name) for job in jobs}, {job.pod_uid for job in jobs}
    return {pod for pod in world.pods if (pod.namespace, pod.name) in names or pod.uid in uids}


def _of(uid: str, pods: Collection[Pod]) -> set[Pod]:
    return {pod for pod in pods if pod.controller is not None and pod.controller.uid == uid}


def _beyond(gate: str, limit: object, num_before: int, num_added: int, skipped: Collection[str]) -> Iterator[str]:
    if isinstance(limit, int) and limit and gate not in skipped and num_added > max(0, limit - num_before):
        yield f"{gate} ({limit}) exceeded"


def _broken_workload(world: World, uid: str, before: set[Pod], added: set[Pod]) -> Iterator[str]:
    args, skipped = world.args, world.args.skip_eviction_gates
    replicas, siblings = _workload(world, uid)
    at_once = _at_once(replicas, args.max_migrating_per_workload)
    if "MaxMigratingPerWorkload" not in skipped and len(before | added) > max(1, at_once):
        yield f"MaxMigratingPerWorkload ({at_once}) exceeded"
    away = {pod for pod in siblings if not pod.is_ready or pod.is_terminating or pod.is_terminal}
    limit = _at_once(replicas, args.max_unavailable_per_workload)
    if "MaxUnavailablePerWorkload" not in skipped and len(away | before | added) > limit:
        yield f"MaxUnavailablePerWorkload ({limit}) exceeded"
    may_all_go = replicas in (1, at_once, limit)
    if "ExpectedReplicas" not in skipped and not args.skip_check_expected_replicas and may_all_go:
        yield "ExpectedReplicas not kept"


def _workload(world: World, uid: str) -> tuple[int, set[Pod]]:
    """Replicas that are wanted, and the pods that count as the workload's: a Deployment's for its ReplicaSets."""
    web = {"replicaset-new", "replicaset-old"}
    uids = web if uid in web else {uid}
    known = world.workloads.get("deployment-web" if uid in web else uid)
    return (0 if known is None else known.replicas), {pod for each in uids for pod in _of(each, world.pods)}


def _at_once(replicas: int, share: int | str | None) -> int:
    """The function of Koordinator's `maxMigratingPerWorkload` and `maxUnavailablePerWorkload`."""
    if isinstance(share, str):
        share = max(1, int(replicas * float(share.rstrip("%")) / 100 + 1e-9))
    elif share is None:
        share = 1 if replicas < 4 else 2 if replicas <= 10 else int(replicas * 0.1 + 1e-9)
    return min(share, replicas)


def _broken_limiters(world: World, decisions: Sequence[JobDecision]) -> Iterator[str]:
    started = [d for d in decisions if d.outcome is JobOutcome.STARTED and not d.job.ignores_object_limiters]
    keys = {
        "workload": Counter(d.pod.controller.uid for d in started if d.pod and d.pod.controller),
        "namespace": Counter(d.pod.namespace for d in started if d.pod),
    }
    for name, limiter in world.args.object_limiters.items():
        if not limiter.duration:
            continue
        for key, number in keys[name].items():
            is_limited = name == "namespace" or _workload(world, key)[0] > 0
            if is_limited and isinstance(limiter.burst, int) and number > max(1, limiter.burst):
                yield f"objectLimiters.{name} exceeded"


def _let_go_as_jobs(world: World) -> set[str]:
    """UIDs of the pods that are let go when each of them has a waiting job and nothing else moves."""
    jobs = [make_job(pod, phase="", name=pod.name + pod.namespace) for pod in world.pods]
    return {d.pod.uid for d in world.arbitrate(jobs) if d.outcome is JobOutcome.STARTED and d.pod is not None}


def _let_go_as_candidates(world: World) -> set[str]:
    """UIDs of the pods that the evictor's filter and limiters let go, asked in the order of arbitration."""
    jobs = [make_job(pod, phase="", name=pod.name + pod.namespace) for pod in world.pods]
    order = [decision.pod for decision in world.arbitrate(jobs) if decision.pod is not None]
    handle = world.handle()
    args = msgspec.structs.replace(world.args, default_job_mode="EvictDirectly")
    controller, limiter = MigrationController(args, handle), ObjectLimiter(args, handle.view.snapshot)
    gone = set()
    for pod in order:
        if not controller.filter(pod).is_accepted:
            continue
        controller.migrating.move(pod)
        if limiter.verdict(pod).is_accepted:
            limiter.count(pod)
            gone.add(pod.uid)
    return gone


def main(arguments: Sequence[str] | None = None) -> int:
    """Arbitrates as many worlds as asked for; returns 1 when any of them broke a promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args(arguments)
    outcomes: Counter[str] = Counter()
    num_broken = 0
    for seed in range(options.first_seed, options.first_seed + options.worlds):
        world = make_world(seed)
        outcomes.update(decision.outcome.value for decision in world.arbitrate(world.jobs))
        faults = sorted(set(faults_of(world)))
        num_broken += bool(faults)
        if faults:
            print(f"seed {seed}: {'; '.join(faults)}")
    print(f"{options.worlds} worlds, {num_broken} broke a promise; {dict(outcomes.most_common())}")
    return bool(num_broken)


if __name__ == "__main__":
    sys.exit(main())
