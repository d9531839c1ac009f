"""From which nodes a volume that is bound can be reached.

Mirrors `checkBoundClaims` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/binder.go` (1.36).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.volume_sources import PersistentVolume, migrated_affinity
from descheduler.placement.plugins.volumes.node_sets import NodeIndices, NodeSets
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable

__all__ = ["VolumeReach"]

_Affinity: TypeAlias = tuple[NodeSelectorTerm, ...] | None


class VolumeReach:
    """Node sets of bound volumes over one snapshot.

    A node that has left a storage plugin to its CSI driver is asked for the topology labels of the driver.
    """

    def __init__(self, snapshot: Snapshot, table: NodeTable, nodes: NodeSets) -> None:
        self._nodes = nodes
        self._migrated: dict[str, BoolMask] = {}
        for name, csi_node in snapshot.csi_nodes.items():
            for plugin in csi_node.migrated_plugins if name in table.index else ():
                has_migrated = self._migrated.setdefault(plugin, np.zeros(len(table), dtype=bool))
                has_migrated[table.index[name]] = True
        self._known: dict[tuple[str, _Affinity, _Affinity], NodeIndices] = {}

    def of(self, volume: PersistentVolume) -> NodeIndices | None:
        """Nodes that reach `volume`, ascending; None for all of them."""
        plugin, affinity = volume.in_tree_plugin, volume.node_affinity
        if plugin in self._migrated:
            migrated = migrated_affinity(plugin, affinity, volume.labels)
            if migrated != affinity:
                return self._mixed(plugin, affinity, migrated)
        return None if affinity is None else self._nodes.reaching(affinity)

    def _mixed(self, plugin: str, affinity: _Affinity, migrated: _Affinity) -> NodeIndices:
        key = (plugin, affinity, migrated)
        known = self._known.get(key)
        if known is None:
            reached, reached_by_driver = (self._nodes.mask(self._nodes.reaching(each)) for each in (affinity, migrated))
            known = np.flatnonzero(np.where(self._migrated[plugin], reached_by_driver, reached))
            self._known[key] = known
        return known
