"""Nodes as the scheduler and the descheduler see them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.requests import ResourceList
from descheduler.model.selection.taints import Taint

NODE_RESERVATION_ANNOTATION = "node.koordinator.sh/reservation"
BATCH_RESOURCES = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
"""koord-manager has taken the reservation out of them already."""
CORDON_ANNOTATION = "descheduler/cordoned-by"
"""On nodes that runs have cordoned: the Lease of the policy that did, as `NAME.NAMESPACE`."""
HOSTNAME_LABEL = "kubernetes.io/hostname"
"""Scoring takes the domains of this key to be single nodes."""
ZONE_LABEL = "topology.kubernetes.io/zone"
CORDON_TAINT = "node.kubernetes.io/unschedulable"
"""The key of the taint that the node controller gives to a cordoned node."""
POOL_LABELS = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)
DEPARTURE_CONDITIONS = frozenset({"MaintenancePlanned", "DrainInProgress"})
"""Conditions with which the owner of a node says that pods are to leave it soon, or leave it now (Kubernetes 1.37)."""


class Node(msgspec.Struct, frozen=True, eq=False):
    """One node. `allocatable` and `capacity` are in nano units; without a Ready condition a node counts as ready.

    `images` maps every name of an image that the node holds to its size in bytes. `reservation` is what is withheld
    from pods; where `is_trimmed`, the snapshot has taken it off `allocatable` (`SnapshotRequest.trims_reservations`).
    `true_conditions` are the types of its conditions with status `True`, without Ready. With `cordoned_by_run` the node
    is unschedulable because the run itself cordons it; the cluster, as it was read, has no cordon on it.
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    unschedulable: bool
    taints: tuple[Taint, ...]
    allocatable: ResourceList
    capacity: ResourceList
    is_ready: bool
    images: Mapping[str, int] = {}
    declared_features: frozenset[str] = frozenset()
    reservation: NodeReservation | None = None
    is_trimmed: bool = False
    true_conditions: frozenset[str] = frozenset()
    cordoned_by_run: bool = False

    @property
    def pool(self) -> str:
        """The name of its pool, or else its instance type; "" where no label tells."""
        return next((self.labels[label] for label in POOL_LABELS if self.labels.get(label)), "")

    @property
    def for_pods(self) -> ResourceList:
        """What pods may request: `allocatable` without the reservation, whether or not the snapshot took it off."""
        if self.reservation is None or self.is_trimmed:
            return self.allocatable
        return self.reservation.rest_of(self.allocatable)


class NodeReservation(msgspec.Struct, frozen=True):
    """A reservation in effect: `amounts` in nano units, of cpu that of `cpus` where CPUs are named.

    With `withholds_amounts` (policy `Default`) the amounts are no capacity for pods; without it (`ReservedCPUsOnly`,
    or an unknown policy) only the CPUs are closed to pods that are pinned to CPUs.
    """

    amounts: ResourceList
    cpus: frozenset[int]
    withholds_amounts: bool

    def rest_of(self, allocatable: ResourceList) -> ResourceList:
        """The part of `allocatable` left for pods, at least 0; a reserved resource that the node lacks counts as 0.

        Source: koordinator 1.8 `pkg/util/node.go`, `TrimNodeAllocatableByNodeReservation`, which also writes the batch
        resources to nodes that have none.
        """
        if not self.withholds_amounts:
            return allocatable
        names = dict.fromkeys((*allocatable, *self.amounts))
        rest = {name: max(0, allocatable.get(name, 0) - self.amounts.get(name, 0)) for name in names}
        return rest | {name: allocatable.get(name, 0) for name in BATCH_RESOURCES}
