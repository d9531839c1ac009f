"""One plan carried out on the cluster of a dump: evicted pods go, replacements come, and the scheduler binds them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.options import RunResult
from descheduler.cycle.recent_moves import with_moves
from descheduler.eviction.placement_verification.placement_verification import scheduling_by_profile
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.model.held_room import HeldRoom
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.shard import WHOLE_CLUSTER
from descheduler.placement.created_pods import Coming, created_pods
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.plan.run_memory import RunMemory
from descheduler.simulation.arrivals import Successor, arrival_of, started
from descheduler.simulation.status_after import (
    budgets_after,
    ended_owners,
    node_metrics_after,
    server_usage_after,
    workloads_after,
)


class CarriedOut(msgspec.Struct, frozen=True):
    """The cluster `now`, some time after a plan was carried out, and what came for each evicted pod, in their order.

    `undecided` are the pods of `undecided_pods`, and `memory` is what the run leaves for the next.
    """

    snapshot: Snapshot
    now: datetime
    memory: RunMemory
    arrivals: tuple[Successor, ...]
    undecided: Mapping[str, int]


def carried_out(decisions: Decisions, every: timedelta) -> CarriedOut:
    """What the next run finds, which comes `every` after the one that took `decisions`.

    Every eviction goes well, and every replacement lands where the plan predicts it and is ready by then. Pending pods
    are bound where the plan counts on them, and then others that fit. Nothing else happens in between: no pod finishes
    or fails unless the eviction ends its Job, and none is created but those that owners create because of evictions.
    PodMigrationJobs that were under way have ended, and their pods are where they were.
    """
    before, now = decisions.snapshot, decisions.now
    workloads = workloads_after(before.workloads, decisions.leaving)
    arrivals = [arrival_of(move, now) for move in decisions.leaving]
    created = created_pods(before, workloads, list(map(_coming, arrivals)), now)
    arrivals = _without(arrivals, created.held_back)
    after = replace(before, pods=_pods_after(before, arrivals, created.others), workloads=workloads)
    prover = _prover(after, decisions, _counted_on(decisions))
    bound = {id(pod): started(there, now) for pod, there in prover.scheduled()}
    arrivals = [_bound(each, bound) for each in arrivals]
    held_up = set(_held_up(created.others, bound))
    pods = tuple(bound.get(id(pod), pod) for pod in prover.cluster.snapshot.pods if id(pod) not in held_up)
    return CarriedOut(
        snapshot=_with_status(replace(after, pods=pods, migration_jobs=()), before, arrivals, bound.values(), every),
        now=now + every,
        memory=with_moves(decisions.memory, decisions.policy, _result(decisions, arrivals), now),
        arrivals=tuple(arrivals),
        undecided=prover.undecided,
    )


def undecided_pods(decisions: Decisions) -> Mapping[str, int]:
    """How many pending pods cannot be predicted, by what their scheduler checks that is not modelled."""
    return _prover(decisions.snapshot, decisions).undecided


def _counted_on(decisions: Decisions) -> list[HeldRoom]:
    """Where pending pods are by the plan: those that fit are there before the first eviction, others as room is made.

    Were they all placed after the last eviction, some would go elsewhere, where they are in the way of others.
    """
    if all(pod.node_name or pod.is_terminal for pod in decisions.snapshot.pods):
        return []
    prover = _prover(decisions.snapshot, decisions)
    for move in decisions.leaving:
        prover.book(move.pod, held=move.held)
    return [HeldRoom(pod, there.node_name) for pod, there in prover.scheduled()]


def _coming(arrival: Successor) -> Coming:
    return Coming(arrival.move.pod, arrival.move.landing, is_ready=arrival.fate == "scheduled")


def _without(arrivals: Sequence[Successor], held_back: Container[str]) -> list[Successor]:
    """The arrivals, of which nothing comes of those that are held back, and for Jobs that have ended."""
    ended = ended_owners(each.move for each in arrivals)
    nothing = {"pod": None, "fate": "not created"}
    return [
        msgspec.structs.replace(each, **nothing)
        if each.move.pod.uid in held_back or _is_of(each.move.pod, ended)
        else each
        for each in arrivals
    ]


def _held_up(others: Iterable[Pod], bound: Container[int]) -> Iterator[int]:
    """The identities of pods that a StatefulSet does not create, as one of its lower ordinals has no node."""
    waiting: set[str] = set()
    for pod in others:
        if pod.controller is not None and pod.controller.kind == "StatefulSet":
            if pod.controller.uid in waiting:
                yield id(pod)
            elif id(pod) not in bound:
                waiting.add(pod.controller.uid)


def _pods_after(before: Snapshot, arrivals: Sequence[Successor], others: Iterable[Pod]) -> tuple[Pod, ...]:
    gone = {id(each.move.pod) for each in arrivals}
    ended = ended_owners(each.move for each in arrivals)
    pods = [pod for pod in before.pods if id(pod) not in gone and not _is_of(pod, ended)]
    pods += [each.pod for each in arrivals if each.pod is not None]
    return tuple(
        sorted((*pods, *(pod for pod in others if not _is_of(pod, ended))), key=lambda pod: (pod.namespace, pod.name))
    )


def _is_of(pod: Pod, owners: Container[str]) -> bool:
    return pod.controller is not None and pod.controller.uid in owners


def _prover(snapshot: Snapshot, decisions: Decisions, rooms: Sequence[HeldRoom] = ()) -> LandingProver:
    """The scheduler that the policy verifies landings with, kube-scheduler where it verifies none.

    It knows of no shards.
    """
    version = snapshot.kube_version
    known = (settings for _, settings in scheduling_by_profile(decisions.policy, version) if settings is not None)
    settings = next(known, SchedulingSettings(version=version or KubeVersion()))
    configuration = settings.resolved()
    whole = replace(snapshot, shard=WHOLE_CLUSTER)
    return LandingProver(whole, configuration=configuration, version=settings.version, rooms=rooms, now=decisions.now)


def _bound(arrival: Successor, bound: Mapping[int, Pod]) -> Successor:
    there = bound.get(id(arrival.pod))
    return arrival if there is None else msgspec.structs.replace(arrival, pod=there, fate="scheduled")


def _with_status(
    snapshot: Snapshot, before: Snapshot, arrivals: Sequence[Successor], bound: Iterable[Pod], every: timedelta
) -> Snapshot:
    """`snapshot` with what controllers and agents report of its pods."""
    came = {id(each.pod): each.pod for each in arrivals if each.pod is not None and each.pod.node_name}
    moved = [(each.move.pod, came.get(id(each.pod))) for each in arrivals]
    ready = came | {id(pod): pod for pod in bound}
    node_usage, pod_usage = server_usage_after(before, moved)
    return replace(
        snapshot,
        budgets=budgets_after(before, (pod for pod, _ in moved), ready.values()),
        node_usage=node_usage,
        pod_usage=pod_usage,
        node_metrics=node_metrics_after(before, moved, every),
    )


def _result(decisions: Decisions, arrivals: Iterable[Successor]) -> RunResult:
    return RunResult(decisions, tuple(_evicted(each.move, each.pod) for each in arrivals))


def _evicted(move: Move, successor: Pod | None) -> Outcome:
    """The outcome of an eviction that went well."""
    pod, node = move.pod, "" if successor is None else successor.node_name
    planned = PlannedEviction(
        pod.namespace, pod.name, pod.uid, pod.node_name, move.profile, move.plugin, landing=move.landing
    )
    return Outcome(planned, OutcomeKind.EVICTED, OutcomeCode.DONE, "", landed_on=node)
