"""The session of a recorded cycle of Volcano."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.volcano import VOLCANO_ANNOTATIONS
from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session

__all__ = ["Case", "make_session"]

Case = Mapping[str, Any]
_REQUEST = SnapshotRequest(annotations=frozenset(VOLCANO_ANNOTATIONS))


def make_session(case: Case, choices: Choices | None = None) -> Session:
    """The session of a case before its first action. Raises PolicyError for a configuration that is refused."""
    configuration = load_volcano_configuration(case["scheduler_conf"], modelled=VOLCANO_PLUGINS)
    kinds = ("nodes", "pods", "queues", "podgroups", "priorityclasses", "objects")
    snapshot = snapshot_from_objects([each for kind in kinds for each in case[kind] or ()], _REQUEST)
    return Session(
        ShadowCluster(snapshot),
        configuration,
        plugins=VOLCANO_PLUGINS,
        choices=choices,
        node_order=[node["metadata"]["name"] for node in case["nodes"]],
    )
