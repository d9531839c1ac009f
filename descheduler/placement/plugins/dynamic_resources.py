"""DynamicResources (kube-scheduler 1.36): devices are allocated by expressions over what drivers publish.

A snapshot holds neither the devices nor the expressions, so a pod with claims is neither accepted nor refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from descheduler.model.pod import PodSpec
from descheduler.placement.framework.extension_points import SKIP, Code, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow.shadow_cluster import Cycle

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
    from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["DynamicResources"]


class DynamicResources:
    """Says of pods with resource claims that their placement cannot be told."""

    name = "DynamicResources"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        """Neither is read: only the pod counts."""

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Undecided for pods with claims; others are left out."""
        spec = cycle.pod.spec
        return PreFilterResult(self._undecided(spec)) if spec.has_resource_claims else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nothing: no pod with claims gets as far as this."""
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """What `pre_filter` says."""
        return self._undecided(cycle.pod.spec)

    def _undecided(self, spec: PodSpec) -> Obstacle:
        names = f": {', '.join(spec.resource_claim_names)}" if spec.resource_claim_names else ""
        reason = f"uses resource claims, which a snapshot cannot allocate{names}"
        return Obstacle(self.name, Code.UNDECIDED, (reason,))
