"""The session of a recorded cycle of Volcano."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, TypeVar

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.groups.volcano import VOLCANO_ANNOTATIONS
from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session

__all__ = ["Case", "RandomChoices", "make_session"]

Case = Mapping[str, Any]
T = TypeVar("T")
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
        is_first_cycle=True,
    )


class RandomChoices:
    """As chance has it, the same for the same `seed`."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def index(self, number: int) -> int:
        """Any."""
        return self._random.randrange(number)

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """In any order."""
        found = list(items)
        self._random.shuffle(found)
        return found

    def raced(self, items: Iterable[T]) -> list[T]:
        """As they are: workers are seldom overtaken."""
        return list(items)
