"""The part of a plan about the workloads that lose pods: how many at once, and what their budgets allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.model.pod import Owner, Pod
from descheduler.plan.moves import Move
from descheduler.report.document import PodReference
from descheduler.report.identities import reference


class WorkloadBudget(Fields, frozen=True):
    """A PodDisruptionBudget that covers pods which leave, and how many disruptions it allowed before the plan: 0
    without a status, as the API server reads it."""

    name: str
    allowed: int


class WaveShare(Fields, frozen=True):
    """How many running pods of a workload leave in one wave."""

    wave: int
    pods: int


class PlannedWorkload(Fields, frozen=True):
    """A workload that loses pods: the Deployment of a ReplicaSet, where that is known, else the controller of its pods;
    `kind` Pod is a pod without one.

    `replicas` is that of its spec, or the number of its pods where that is not known. `pods` are those that leave.
    `waves` counts those of them that have not finished, by wave; the largest number is the most that the plan takes
    down at once.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    moved: int
    pods: tuple[PodReference, ...]
    waves: tuple[WaveShare, ...]
    budgets: tuple[WorkloadBudget, ...]


def planned_workloads(snapshot: Snapshot, leaving: Iterable[Move]) -> tuple[PlannedWorkload, ...]:
    """The workloads of the pods that leave, those that lose the most pods first."""
    groups: dict[tuple[str, str, str], list[Move]] = {}
    for move in leaving:
        owner = _top(snapshot, move.pod)
        key = ("Pod", move.pod.namespace, move.pod.name) if owner is None else _named(owner, move.pod.namespace)
        groups.setdefault(key, []).append(move)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(_workload(snapshot, *key, moves) for key, moves in ordered)


def _named(owner: Owner, namespace: str) -> tuple[str, str, str]:
    return owner.kind, namespace, owner.name


def _top(snapshot: Snapshot, pod: Pod) -> Owner | None:
    """The controller of the controller of `pod`, as far as the snapshot knows them."""
    owner = pod.controller
    above = snapshot.workloads.get(owner.uid) if owner is not None else None
    return next((each for each in above.owners if each.controller), owner) if above is not None else owner


def _workload(snapshot: Snapshot, kind: str, namespace: str, name: str, moves: Sequence[Move]) -> PlannedWorkload:
    counts = Counter(move.wave for move in moves if not move.pod.is_terminal)
    budgets = {budget.name: budget for move in moves for budget in snapshot.budgets_of(move.pod)}
    return PlannedWorkload(
        kind=kind,
        namespace=namespace,
        name=name,
        replicas=_replicas(snapshot, kind, namespace, name, moves),
        moved=len(moves),
        pods=tuple(reference(move.pod) for move in moves),
        waves=tuple(WaveShare(wave=wave, pods=pods) for wave, pods in sorted(counts.items())),
        budgets=tuple(
            WorkloadBudget(name=budget.name, allowed=budget.disruptions_allowed or 0)
            for _, budget in sorted(budgets.items())
        ),
    )


def _replicas(snapshot: Snapshot, kind: str, namespace: str, name: str, moves: Sequence[Move]) -> int:
    wanted = snapshot.workloads_by_name.get((kind, namespace, name))
    if wanted is not None and wanted.replicas:
        return wanted.replicas
    controllers = {move.pod.controller.uid for move in moves if move.pod.controller is not None}
    pods = [pod for uid in controllers for pod in snapshot.pods_by_controller.get(uid, ()) if not pod.is_terminal]
    return max(len(pods), len(moves))
