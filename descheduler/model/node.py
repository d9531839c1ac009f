"""Nodes as the scheduler and the descheduler see them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.requests import ResourceList
from descheduler.model.taints import Taint

__all__ = ["Node"]


class Node(msgspec.Struct, frozen=True, eq=False):
    """One node. `allocatable` and `capacity` are in nano units; without a Ready condition a node counts as ready.

    `images` maps every name of an image that the node holds to its size in bytes.
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
