"""The cluster and the configuration of a recorded cycle of Volcano, and sessions over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.volcano import VOLCANO_ANNOTATIONS
from descheduler.placement.configuration.volcano import VolcanoConfiguration, load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session

Case = Mapping[str, Any]
T = TypeVar("T")
_REQUEST = SnapshotRequest(annotations=frozenset(VOLCANO_ANNOTATIONS))


@dataclass(frozen=True)
class World:
    """What a case is recorded of, before its first action; sessions over it change nothing of it."""

    configuration: VolcanoConfiguration
    snapshot: Snapshot
    node_order: Sequence[str]

    @classmethod
    def of(cls, case: Case) -> World:
        """That of a case. Raises PolicyError for a configuration that is refused."""
        configuration = load_volcano_configuration(case["scheduler_conf"], modelled=VOLCANO_PLUGINS)
        kinds = ("nodes", "pods", "queues", "podgroups", "priorityclasses", "objects")
        snapshot = snapshot_from_objects([each for kind in kinds for each in case[kind] or ()], _REQUEST)
        return cls(configuration, snapshot, [node["metadata"]["name"] for node in case["nodes"]])

    def session(self, choices: Choices | None = None) -> Session:
        """A session of the first cycle of a process."""
        return Session(
            ShadowCluster(self.snapshot),
            self.configuration,
            plugins=VOLCANO_PLUGINS,
            choices=choices,
            node_order=self.node_order,
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
