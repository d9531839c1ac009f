"""The document `PlanFile`: a plan, and what each of its moves was judged by, for `descheduler apply`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.model.node import CORDON_TAINT, Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.report.document import API_VERSION, ApiVersion, PodReference
from descheduler.report.identities import reference
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from descheduler.version import VERSION


class ClusterIdentity(Fields, frozen=True):
    """Which cluster it is: the URL of its API server, and the UID of its namespace kube-system.

    Both are empty where they are not known, as for a dump.
    """

    server: str
    uid: str


class NodeFootprint(Fields, frozen=True):
    """What a node was when the cluster was read. The digests are SHA-256, of allocatable resources, labels and taints.

    `cordoned` does not count a cordon that the plan's own run sets (`cordon: true`), and `taints` not that of a cordon.
    """

    name: str
    uid: str
    cordoned: bool
    ready: bool
    allocatable: str
    labels: str
    taints: str


class MoveBasis(Fields, frozen=True):
    """What the move of the pod with `uid` was decided on, in the order of the plan's moves.

    `workload` is the UID of the pod's controller, "" without one; `requests` and `labels` are digests of what the pod
    requests and of its labels.
    `source` and `target` are the nodes that it leaves and that its replacement was expected on, null when there is no
    such node. Moves of the same `bundle` leave together; 0 is that of a pod that leaves alone. The pod leaves so that
    the pending pods in `serves` can be scheduled; it is empty for moves of other objectives than makeRoom.
    """

    uid: str
    workload: str
    requests: str
    labels: str
    source: NodeFootprint | None
    target: NodeFootprint | None
    bundle: int
    serves: tuple[PodReference, ...]


class PlannedMoves(Fields, frozen=True):
    """All moves of one plugin. `moves` is the SHA-256 digest of which pods leave which nodes for which, and why."""

    profile: str
    plugin: str
    moves: str


class PlanFile(Fields, frozen=True):
    """A whole plan that can be carried out later. `version` is that of the program that made it.

    `plugins` has an entry for each plugin with moves.
    """

    api_version: ApiVersion
    kind: Literal["PlanFile"]
    version: str
    cluster: ClusterIdentity
    bases: tuple[MoveBasis, ...]
    plugins: tuple[PlannedMoves, ...]
    plan: Plan


def make_plan_file(decisions: Decisions, cluster: ClusterIdentity) -> PlanFile:
    """The file for what was decided over a snapshot of `cluster`."""
    nodes = {node.name: node for node in decisions.snapshot.nodes}
    plan, bases = make_plan(decisions), tuple(_basis(move, nodes) for move in decisions.leaving)
    return PlanFile(
        api_version=API_VERSION,
        kind="PlanFile",
        version=VERSION,
        cluster=cluster,
        bases=bases,
        plugins=tuple(planned_moves(plan, bases)),
        plan=plan,
    )


def planned_moves(plan: Plan, bases: Iterable[MoveBasis]) -> Iterator[PlannedMoves]:
    """The moves of each plugin of `plan`, in the order in which the plugins come in it."""
    found: dict[tuple[str, str], list[object]] = {}
    for move, basis in zip(plan.moves, bases, strict=True):
        what = move.pod.uid, move.from_node, move.to_node, move.holds_target, move.room_for, move.wave, move.reason
        found.setdefault((move.profile, move.plugin), []).append((*what, basis.bundle, basis.serves))
    for (profile, plugin), moves in found.items():
        yield PlannedMoves(profile=profile, plugin=plugin, moves=_digest(moves))


def labels_of(pod: Pod) -> str:
    """The digest of the labels of `pod`."""
    return _digest(dict(pod.labels))


def basis_of(pod: Pod, snapshot: Snapshot, old: MoveBasis) -> MoveBasis:
    """What the move of `pod` that was judged by `old` would be judged by now: onto the same node, for the same pods."""
    nodes = {node.name: node for node in snapshot.nodes}
    return _made(pod, nodes, "" if old.target is None else old.target.name, old.bundle, old.serves)


def _basis(move: Move, nodes: dict[str, Node]) -> MoveBasis:
    serves = tuple(map(reference, move.serves))
    return _made(move.pod, nodes, move.to_node or "", move.bundle, serves)


def _made(pod: Pod, nodes: Mapping[str, Node], target: str, bundle: int, serves: tuple[PodReference, ...]) -> MoveBasis:
    return MoveBasis(
        uid=pod.uid,
        workload="" if pod.controller is None else pod.controller.uid,
        requests=_digest(dict(pod.spec.requests)),
        labels=labels_of(pod),
        source=_footprint(nodes.get(pod.node_name)),
        target=_footprint(nodes.get(target)),
        bundle=bundle,
        serves=serves,
    )


def _footprint(node: Node | None) -> NodeFootprint | None:
    if node is None:
        return None
    return NodeFootprint(
        name=node.name,
        uid=node.uid,
        cordoned=node.unschedulable and not node.cordoned_by_run,
        ready=node.is_ready,
        allocatable=_digest(dict(node.allocatable)),
        labels=_digest(dict(node.labels)),
        taints=_digest(
            sorted(msgspec.json.encode(taint).decode() for taint in node.taints if taint.key != CORDON_TAINT)
        ),
    )


def _digest(content: object) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()
