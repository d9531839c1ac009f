"""A plugin takes part in the extension points that a profile enables it at, and in no others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.attempt import Attempt, place
from descheduler.placement.framework.extension_points import CountedDomains, PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import FoundPods
from descheduler.placement.shadow.topology import Domains
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import ZONE
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

PROFILE = DEFAULT_CONFIGURATION.profiles[0]
ENABLED: dict[str, Callable[[SchedulerProfile], SchedulerProfile]] = {
    "pre_enqueue": lambda profile: replace(profile, pre_enqueue=("Witness",)),
    "pre_filter": lambda profile: replace(profile, pre_filters=("Witness",)),
    "score": lambda profile: replace(profile, scores=(("Witness", 1),)),
    "reserve": lambda profile: replace(profile, reserves=("Witness",)),
    "permit": lambda profile: replace(profile, permits=("Witness",)),
    "pre_bind": lambda profile: replace(profile, pre_binds=("Witness",)),
}


class Witness:
    """Notes where it is asked, and has nothing against anything."""

    name = "Witness"
    is_static = False

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked
        self.ledger = self

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        """Lets every pod in."""
        self.asked.append("pre_enqueue")
        return None

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Says nothing."""
        self.asked.append("pre_filter")
        return PreFilterResult()

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Leaves every node."""
        self.asked.append("filter")
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Never asked."""
        raise NotImplementedError

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """No preference."""
        self.asked.append("score")
        return None

    def reserve(self, cycle: Cycle, node: int) -> object:
        """Takes nothing."""
        self.asked.append("reserve")
        return None

    def release(self, taken: object) -> None:
        """Gives nothing back."""

    def restore(self, taken: object) -> None:
        """Takes nothing again."""

    def fingerprint(self) -> object:
        """There is no state."""
        return None

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        """Waits for nothing but a signature."""
        self.asked.append("permit")
        return Obstacle(self.name, Code.UNSCHEDULABLE, ("waits for a signature",))

    def pre_bind(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """Needs a stamp."""
        self.asked.append("pre_bind")
        return ("needs a stamp",)


def tried(profile: SchedulerProfile) -> tuple[list[str], Attempt]:
    """Where the witness was asked when a pod was placed under `profile`, and what came of it."""
    asked: list[str] = []
    row = SchedulingPlugin(plugin=lambda *_: Witness(asked), score=lambda *_: Witness(asked), points=frozenset(ENABLED))
    cluster = ShadowCluster(make_snapshot([make_node("a"), make_node("b")], []))
    scheduler = Scheduler(cluster, profile, plugins={**PLUGINS, "Witness": row})
    return asked, place(scheduler.evaluate(make_pod("pod", node="")))


@pytest.mark.parametrize("point", ENABLED)
def test_plugin_that_is_enabled_at_one_point_takes_part_there_and_only_there(point: str) -> None:
    asked, attempt = tried(ENABLED[point](PROFILE))

    assert asked == [point]
    assert attempt.placement is not None


def test_plugin_that_is_enabled_nowhere_is_never_asked() -> None:
    asked, attempt = tried(PROFILE)

    assert asked == []
    assert attempt.placement is not None


def test_work_before_binding_makes_a_condition_of_a_plugin_that_filters_nothing() -> None:
    _, attempt = tried(ENABLED["pre_bind"](PROFILE))

    assert attempt.placement is not None
    assert attempt.placement.conditions == ("needs a stamp",)


def zoned(*zones: str) -> Domains:
    """The zones of so many nodes; "" is none."""
    nodes = [make_node(f"n{place}", labels={ZONE: zone} if zone else {}) for place, zone in enumerate(zones)]
    return Domains(NodeTable(nodes), ZONE)


@pytest.mark.parametrize(
    ("zones", "eligible", "num", "sums", "least"),
    [
        pytest.param(["east", "west", "east"], [1, 1, 1], 2, [5, 2], 2, id="all nodes"),
        pytest.param(["east", "west", "east"], [1, 0, 1], 1, [5, 0], 5, id="the nodes of one zone"),
        pytest.param(["east", "west", "east"], [0, 1, 1], 2, [4, 2], 2, id="one node of each"),
        pytest.param(["east", "west", ""], [1, 1, 1], 2, [1, 2], 1, id="beside a node without a zone"),
        pytest.param(["east", "", "west"], [1, 1, 0], 1, [1, 0], 1, id="that and one zone"),
    ],
)
def test_domains_are_counted_by_their_eligible_nodes(
    zones: list[str], eligible: list[int], num: int, sums: list[int], least: int
) -> None:
    """There are 1, 2 and 4 pods on the nodes."""
    domains = zoned(*zones)
    counted = CountedDomains(domains, domains.ids, np.array(eligible, dtype=bool))

    found = counted.sums(FoundPods(np.arange(3), np.array([1, 2, 4])))

    assert (counted.num, found[:-1].tolist(), counted.least(found)) == (num, sums, least)
