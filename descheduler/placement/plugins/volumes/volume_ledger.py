"""The volumes that placed pods took, shared by the profiles of all schedulers."""

from __future__ import annotations

from descheduler.placement.plugins.volumes.assumed_volumes import Assumed
from descheduler.placement.plugins.volumes.claim_supply import ClaimSupply
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.volume_demands import VolumeDemand, VolumeDemands
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["VolumeLedger"]


class VolumeLedger:
    """Takes volumes for the unbound claims of placed pods, and pins the claims whose volume is to be made.

    `demands` are what pods want and `supply` is what there is for them; both serve VolumeBinding's filter.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        nodes = NodeSets(cluster.table)
        self.demands = VolumeDemands(cluster, nodes)
        self.supply = ClaimSupply(cluster, nodes)

    def reserve(self, cycle: Cycle, node: int) -> tuple[Assumed, ...] | None:
        """Takes the volumes that the pod's claims get on `node` and pins the claims that get a new one.

        As in the scheduler, nothing is taken for a pod that VolumeBinding did not filter in the same cycle.
        Where the volumes of pods placed before may use up what a driver publishes, `cycle.notes` says so: the
        scheduler does not see it, but making the volume may fail.
        """
        demand = cycle.scratch.get("VolumeBinding")
        if not isinstance(demand, VolumeDemand) or not demand.unbound:
            return None
        taken, doubts = self.supply.assume(demand.unbound, node)
        cycle.notes.extend(doubts)
        return taken

    def restore(self, taken: tuple[Assumed, ...]) -> None:
        """Takes exactly the same again."""
        for assumed in taken:
            self.supply.assumed.hold(assumed)

    def release(self, taken: tuple[Assumed, ...]) -> None:
        """Gives back what `reserve` took."""
        for assumed in taken:
            self.supply.assumed.release(assumed)

    def fingerprint(self) -> object:
        """Everything that is taken."""
        return self.supply.assumed.fingerprint()
