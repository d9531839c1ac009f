"""ImageLocality (kube-scheduler 1.37): nodes that hold large images of the pod already are better.

An image counts by its size times the share of nodes that hold it, so that pods do not crowd on the one node that has
a rare image.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import PodSpec
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.scores import MAX_SCORE
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_LOWER_BYTES = 23 * 2**20
_UPPER_BYTES_PER_IMAGE = 1000 * 2**20


class ImageLocality:
    """Scores do not depend on moves, so each combination of images is scored once."""

    name = "ImageLocality"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._num_nodes = len(cluster.table)
        release = profile.release(cluster.version)
        self._scores_volumes = release.gate("scores_image_volumes")
        self._bounds_volumes = release.gate("bounds_image_volumes")
        self._nodes_with: dict[str, list[int]] = {}
        self._sizes: dict[str, int] = {}
        for index, node in enumerate(cluster.table.nodes):
            for name, size in node.images.items():
                self._nodes_with.setdefault(name, []).append(index)
                self._sizes.setdefault(name, size)
        self._scores: dict[tuple[tuple[str, ...], int], Scores | None] = {}
        self._by_class: dict[PlacementClass, Scores | None] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """The score of each node; None when none of the images is anywhere."""
        if cycle.pod not in self._by_class:
            self._by_class[cycle.pod] = self._scores_of(cycle.pod.spec)
        return self._by_class[cycle.pod]

    def spread_of(self, holders: Sequence[int]) -> Iterable[tuple[int, Sequence[int]]]:
        """How many nodes are taken to hold an image that `holders` hold, and on which of these."""
        return [(len(holders), holders)]

    def _scores_of(self, spec: PodSpec) -> Scores | None:
        volume_images = spec.volume_images if self._scores_volumes else ()
        bounding = volume_images if self._bounds_volumes else ()
        key = (*spec.init_images, *spec.images, *volume_images), len((*spec.init_images, *spec.images, *bounding))
        if key not in self._scores:
            known = self._score_all(*key)
            self._scores[key] = None if known is None else Scores(known)
        return self._scores[key]

    def _score_all(self, images: tuple[str, ...], num_bounding: int) -> NDArray[np.int64] | None:
        total = np.zeros(self._num_nodes, dtype=np.int64)
        for name in map(_normalized, images):
            holders = self._nodes_with.get(name, ())
            # The same steps in float64 as the scheduler takes; the product is cut to whole bytes.
            for number, nodes in self.spread_of(holders):
                total[list(nodes)] += int(self._sizes.get(name, 0) * (number / self._num_nodes))
        if not total.any():
            return None
        upper = _UPPER_BYTES_PER_IMAGE * num_bounding
        return MAX_SCORE * (np.clip(total, _LOWER_BYTES, upper) - _LOWER_BYTES) // (upper - _LOWER_BYTES)


def _normalized(image: str) -> str:
    """The image name with the tag that it implies; a colon before the last slash is that of a registry's port."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


ROW = SchedulingPlugin(
    score=ImageLocality,
    points=frozenset({"score"}),
    by_default=ByDefault(weight=1),
    interactions=own_node,
    about=About(
        preference="Nodes that already have the images of the pod, by size.",
    ),
)
