"""Nodes and classes of volumes for the tests of VolumeBinding."""

from __future__ import annotations

from descheduler.model.volume_sources import CSIDriver
from tests.builders import make_node
from tests.placement.clusters import ZONE
from tests.placement.plugins.volumes.storage import make_class

NODES = [
    make_node("a", labels={ZONE: "east"}),
    make_node("b", labels={ZONE: "west"}),
    make_node("c", labels={ZONE: "west"}),
]
FAST = make_class("fast", provisioner="fast.example.com")
TRACKED = {"fast.example.com": CSIDriver("fast.example.com", tracks_capacity=True)}
