"""NodeLicenses: nodes give a pod a license by number, which a sidecar on the node serves.

The number is noted on the pod. Where a Reservation holds a license, its owners get this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.matched_reservations import (
    MatchedReservation,
    matched_reservations,
    nominated_reservation,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin, own_node
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster, Takings, taken_from

LICENSED = "example.com/licensed"
"""An annotation of a pod that needs a license."""
LICENSE = "example.com/license"
"""An annotation of a running pod, or of a Reservation: the number of the license that it has."""
LICENSES = "licenses"
"""A label of a node: how many licenses it has."""


class NotedLicenses:
    """A follower of the licenses that running pods have by their annotations."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self.used: list[tuple[int, str]] = []

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes it; what the annotation of a pod without a node name says, the ledger knows."""
        del is_terminating
        if pod.node_name and LICENSE in pod.annotations:
            self.used.append((node, pod.annotations[LICENSE]))

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Gives it back."""
        del is_terminating
        if pod.node_name and LICENSE in pod.annotations:
            self.used.remove((node, pod.annotations[LICENSE]))

    def fingerprint(self) -> object:
        """Nothing beyond what the ledger tells."""
        return None


class LicenseLedger:
    """The licenses that are in use, by node and number."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._numbers = [int(node.labels.get(LICENSES, "0")) for node in cluster.table.nodes]
        self._noted = cluster.follow(NotedLicenses)
        self._taken: list[tuple[int, str]] = []

    def free(self, node: int) -> list[str]:
        """The numbers that nobody has, in order."""
        used = {number for where, number in (*self._noted.used, *self._taken) if where == node}
        return [str(number) for number in range(self._numbers[node]) if str(number) not in used]

    def reserve(self, cycle: Cycle, node: int) -> tuple[int, str] | None:
        """Takes that of the Reservation that the pod uses, else the first one."""
        if LICENSED not in cycle.pod.pod.annotations:
            return None
        own = nominated_reservation(cycle, node)
        number = own.annotations[LICENSE] if own is not None and LICENSE in own.annotations else self.free(node)[0]
        self.restore((node, number))
        return node, number

    def restore(self, taken: tuple[int, str]) -> None:
        """Takes it again."""
        self._taken.append(taken)

    def release(self, taken: tuple[int, str]) -> None:
        """Gives it back."""
        self._taken.remove(taken)

    def fingerprint(self) -> object:
        """All that are in use."""
        return sorted((*self._noted.used, *self._taken))


class LicenseReason(ObstacleReason):
    """Why a node takes no licensed pod."""

    NONE_LEFT = 1, "node(s) had no license left"


class NodeLicenses:
    """Filter and writer of annotations."""

    name = "NodeLicenses"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile
        self.ledger = cluster.ledger(LicenseLedger)
        self._nodes = cluster.table.nodes

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves other pods alone."""
        return PreFilterResult() if LICENSED in cycle.pod.pod.annotations else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes without a license left, but for what a Reservation of the pod holds there."""
        matched = matched_reservations(cycle)
        left = [bool(self.ledger.free(node)) or node in matched for node in range(len(self._nodes))]
        return np.where(left, 0, LicenseReason.NONE_LEFT.bit).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The reason."""
        del cycle, node
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, *(each for each in LicenseReason if bits & each.bit))

    def filter_reservation(self, cycle: Cycle, node: int, reservation: MatchedReservation) -> bool:
        """A Reservation without a license is no good to a licensed pod."""
        del node
        return LICENSED not in cycle.pod.pod.annotations or LICENSE in reservation.annotations

    def score_reservations(self, cycle: Cycle, node: int, reservations: Sequence[MatchedReservation]) -> Sequence[int]:
        """The higher the number, the better."""
        del cycle, node
        return [10 * int(each.annotations.get(LICENSE, "0")) for each in reservations]

    def patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The number."""
        del cycle, node
        taken = taken_from(takings, self.ledger)
        return {} if taken is None else {LICENSE: taken[1]}


ROW = SchedulingPlugin(
    plugin=NodeLicenses,
    points=frozenset({"pre_filter", "filter", "reserve", "pre_bind"}),
    interactions=own_node,
    reads_annotations=(LICENSED, LICENSE),
)
