"""Clusters with Reservations, and koord-scheduler over them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.framework.attempt import Placement, put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.needs import landing_annotations
from descheduler.placement.plugins.reservation.holdings import HeldReservation
from descheduler.placement.plugins.reservation.ledgers import OwnerLedger, Use
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION, MANIFEST
from tests.builders import Object, node_object, pod_object

KOORD = "koord-scheduler"
REQUEST = SnapshotRequest(keep_templates=True, annotations=landing_annotations())


def reservation_object(
    name: str,
    *,
    node: str = "",
    cpu: str = "4",
    memory: str | None = None,
    app: str = "web",
    phase: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    template: Object | None = None,
    reserved: Mapping[str, str] | None = None,
    **spec: object,
) -> Object:
    """A Reservation for pods with label `app`, Available on `node`, or Pending without one. `spec` adds fields."""
    requests = dict(reserved or {"cpu": cpu, **({"memory": memory} if memory else {})})
    containers = [{"name": "c", "image": "app:1", "resources": {"requests": requests}}]
    pod: Object = {
        "metadata": {"labels": {"reserve": name}},
        "spec": {"containers": containers, "schedulerName": KOORD},
    }
    for part, fields in (template or {}).items():
        pod[part] |= fields
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": dict(labels or {}),
            "annotations": dict(annotations or {}),
        },
        "spec": {
            "template": pod,
            "owners": [{"labelSelector": {"matchLabels": {"app": app}}}],
            "ttl": "0s",
            **spec,
        },
        "status": {
            "phase": phase or ("Available" if node else "Pending"),
            "nodeName": node,
            "allocatable": requests if node else {},
        },
    }


def koord_pod(name: str, *, app: str = "web", uses: str = "", **facts: object) -> Object:
    """A pod of koord-scheduler, without a node unless one is given; it is an owner of the Reservation `uses`."""
    annotations = dict(facts.pop("annotations", {}) or {})  # type: ignore[call-overload]
    if uses:
        annotations["scheduling.koordinator.sh/reservation-allocated"] = f'{{"name":"{uses}","uid":"uid-{uses}"}}'
    labels = {"app": app, **(facts.pop("labels", {}) or {})}  # type: ignore[dict-item]
    given = {"node": "", "phase": "Running" if facts.get("node") else "Pending", **facts}
    return pod_object(name, labels=labels, annotations=annotations, scheduler=KOORD, **given)  # type: ignore[arg-type]


def nodes(**cpu: str) -> list[Object]:
    """Nodes by name, with this much cpu."""
    return [node_object(name, cpu=amount, memory="64Gi") for name, amount in cpu.items()]


ONE_NODE = nodes(a="8")


def configuration(*, reserves: bool = True) -> SchedulerConfiguration:
    """koord-scheduler as its manifest has it, by default with the line that makes pods use Reservations up."""
    document = copy.deepcopy(dict(MANIFEST))
    if reserves:
        document["profiles"][0]["plugins"]["reserve"]["enabled"].insert(0, {"name": "Reservation"})
    return load_scheduler_configuration(document, version=KOORD_KUBE_VERSION, plugins=PLUGINS)


def snapshot_of(*objects: Object) -> Snapshot:
    """The snapshot that a run would read."""
    return snapshot_from_objects(objects, REQUEST)


class World:
    """One shadow cluster of objects, and koord-scheduler over it."""

    def __init__(self, objects: Sequence[Object], *, reserves: bool = True) -> None:
        self.snapshot = snapshot_of(*objects)
        self.pods = {pod.name: pod for pod in self.snapshot.pods}
        self.cluster = shadow_cluster_of(self.snapshot, PLUGINS, KOORD_KUBE_VERSION)
        self.scheduler = Scheduler(self.cluster, configuration(reserves=reserves).profiles[0], plugins=PLUGINS)

    @property
    def held(self) -> dict[str, HeldReservation]:
        """The Reservations by name."""
        holdings = self.cluster.ledger(OwnerLedger).holdings
        return {} if holdings is None else {each.name: each for each in holdings.held}

    def evaluate(self, pod: str | Pod) -> PodEvaluation:
        """What koord-scheduler says of a pod."""
        return self.scheduler.evaluate(self.pods[pod] if isinstance(pod, str) else pod)

    def fitting(self, pod: str) -> list[str]:
        """The nodes that take a pod."""
        return [self.cluster.table.names[node] for node in self.evaluate(pod).nodes.tolist()]

    def reasons(self, pod: str) -> dict[str, tuple[str, ...]]:
        """By node the words against a pod, those of the first plugin that refuses it."""
        evaluation = self.evaluate(pod)
        names = self.cluster.table.names
        refused = [node for node in range(len(names)) if not evaluation.feasible[node]]
        return {names[node]: evaluation.first_obstacle_on(node).reasons for node in refused}

    def place(self, pod: str, node: str | None = None) -> tuple[str, str]:
        """Places a pod where its scheduler would, or on `node`; says where, and through which Reservation."""
        placement = self.placed(pod, node)
        used = [taken.held.name for _, taken in placement.placed.takings if isinstance(taken, Use)]
        return self.cluster.table.names[placement.node], "".join(used)

    def placed(self, pod: str, node: str | None = None) -> Placement:
        """The same, with what takes it back."""
        evaluation = self.evaluate(pod)
        choice = evaluation.choose()
        assert choice is not None, self.reasons(pod)
        index = choice.node if node is None else self.cluster.table.index[node]
        return put_on_node(evaluation, index)


def prover_of(*objects: Object, reserves: bool = True) -> LandingProver:
    """A prover over a cluster whose pods are those of koord-scheduler."""
    return LandingProver(
        snapshot_of(*objects), configuration=configuration(reserves=reserves), version=KOORD_KUBE_VERSION
    )
