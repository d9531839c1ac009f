"""Which claims of generic ephemeral volumes are still there: such a claim goes with the pod that it was made for."""

from __future__ import annotations

from functools import cached_property

from descheduler.model.pod import Pod, PodSpec
from descheduler.model.volume_sources import PersistentVolumeClaim
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["ClaimOwners"]


class ClaimOwners:
    """A follower that knows which pods with ephemeral volumes have left since the snapshot was taken."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._placed: dict[str, int] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Pods with ephemeral volumes alone."""
        del spec
        return False

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The pod keeps its claims, also while it is being deleted."""
        del node, is_terminating
        if pod.ephemeral_volumes:
            self._count(pod.uid, 1)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The inverse of `pod_added`."""
        del node, is_terminating
        if pod.ephemeral_volumes:
            self._count(pod.uid, -1)

    def fingerprint(self) -> object:
        """The number of placed pods with ephemeral volumes by uid."""
        return sorted(self._placed.items())

    def has_left(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the pod that owned the claim is gone, so that the garbage collector removes the claim."""
        return claim.owner_uid not in self._placed and claim.owner_uid in self._at_first

    @cached_property
    def _at_first(self) -> frozenset[str]:
        return frozenset(pod.uid for pod, _ in self._cluster.placed_pods if pod.ephemeral_volumes)

    def _count(self, uid: str, sign: int) -> None:
        count = self._placed.get(uid, 0) + sign
        if count:
            self._placed[uid] = count
        else:
            del self._placed[uid]
