"""The seat of plugins that do not come with kube-scheduler: every extension point is asked."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import CPU_ROW
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION


class Gang:
    """Lets pods land and holds them back until a partner is there; takes a ticket for each and likes node b."""

    name = "Gang"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del cluster, profile
        self.tickets: list[int] = []
        self.ledger = self

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Grants a core on every node, as one who holds a reservation does."""
        cycle.credit[CPU_ROW] = np.full(len(cycle.cluster.table), 1000, dtype=np.int64)
        return PreFilterResult()

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Closes node c."""
        return np.array([0, 0, 1], dtype=np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words for it."""
        return Obstacle(self.name, Code.UNSCHEDULABLE, (f"node {node} is closed",))

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """All for node b."""
        return Scores(np.array([0, 100, 0]))

    def reserve(self, cycle: Cycle, node: int) -> int:
        """Takes a ticket."""
        self.tickets.append(node)
        return node

    def restore(self, taken: int) -> None:
        """Takes it again."""
        self.tickets.append(taken)

    def release(self, taken: int) -> None:
        """Gives it back."""
        self.tickets.remove(taken)

    def fingerprint(self) -> object:
        """The tickets that are out."""
        return sorted(self.tickets)

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        """Waits for the partner."""
        return Obstacle(self.name, Code.UNSCHEDULABLE, ("its partner is not placed yet",))


POINTS = frozenset({"pre_filter", "filter", "score", "reserve", "permit"})
PROFILE = DEFAULT_CONFIGURATION.profiles[0]
WITH_GANG = replace(
    PROFILE,
    pre_filters=("Gang", *PROFILE.pre_filters),
    filters=("Gang", *PROFILE.filters),
    scores=(("Gang", 50), *PROFILE.scores),
    reserves=("Gang", *PROFILE.reserves),
    permits=("Gang",),
)
NODES = [make_node("a", cpu="2"), make_node("b", cpu="2"), make_node("c", cpu="64")]


def test_plugin_of_ones_own_takes_part_in_every_point() -> None:
    gang: list[Gang] = []

    def make(cluster: ShadowCluster, profile: SchedulerProfile) -> Gang:
        gang.append(Gang(cluster, profile))
        return gang[-1]

    plugins = {**PLUGINS, "Gang": SchedulingPlugin(plugin=make, score=make, points=POINTS)}
    cluster = ShadowCluster(make_snapshot(NODES, []))
    scheduler = Scheduler(cluster, WITH_GANG, plugins=plugins)

    evaluation = scheduler.evaluate(make_pod("pod", node="", cpu="3"))
    choice = evaluation.choose()
    assert choice is not None
    with cluster.what_if():
        scheduler.place(evaluation, choice.node)
        tickets = list(gang[0].tickets)

    assert evaluation.feasible.tolist() == [True, True, False]
    assert evaluation.obstacles_on(2) == (Obstacle("Gang", Code.UNSCHEDULABLE, ("node 2 is closed",)),)
    assert (choice.node, tickets, gang[0].tickets) == (1, [1], [])


def test_plugin_that_is_disabled_as_a_filter_alone_still_answers_before_nodes_are_looked_at() -> None:
    """NodeAffinity names the one node left; the labels that only its filter looks at do not count."""
    profile = replace(PROFILE, filters=tuple(name for name in PROFILE.filters if name != "NodeAffinity"))
    scheduler = Scheduler(ShadowCluster(make_snapshot(NODES, [])), profile, plugins=PLUGINS)
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod = make_pod("pod", node="", affinity={"nodeAffinity": required}, node_selector={"disk": "ssd"})

    evaluation = scheduler.evaluate(pod)

    assert evaluation.feasible.tolist() == [False, True, False]
    assert evaluation.obstacles_on(0) == ()
    assert evaluation.first_obstacle_on(0).plugin == "NodeAffinity"


def test_filter_without_its_pre_filter_fails_every_pod() -> None:
    profile = replace(PROFILE, unprepared_filters=("NodePorts",))
    scheduler = Scheduler(ShadowCluster(make_snapshot(NODES, [])), profile, plugins=PLUGINS)

    evaluation = scheduler.evaluate(make_pod("pod", node=""))

    reason = "runs at filter without its preFilter, which fails every pod"
    assert not evaluation.fits
    assert evaluation.refusals == (Obstacle("NodePorts", Code.UNRESOLVABLE, (reason,)),)


def test_scorer_without_its_pre_score_fails_every_pod_that_fits_several_nodes() -> None:
    profile = replace(PROFILE, unprepared_scorers=("InterPodAffinity",))
    scheduler = Scheduler(ShadowCluster(make_snapshot(NODES, [])), profile, plugins=PLUGINS)

    anywhere = scheduler.evaluate(make_pod("anywhere", node="")).choose()
    only_on_c = scheduler.evaluate(make_pod("large", node="", cpu="32")).choose()

    assert anywhere is None
    assert only_on_c is not None
    assert only_on_c.node == 2


def test_pod_that_is_held_back_lands_on_a_condition() -> None:
    plugins = {**PLUGINS, "Gang": SchedulingPlugin(plugin=Gang, points=POINTS)}
    configuration = replace(DEFAULT_CONFIGURATION, profiles=(WITH_GANG,))
    victim = make_pod("victim", node="a", cpu="1")
    prover = LandingProver(make_snapshot(NODES, [victim]), configuration=configuration, plugins=plugins)

    landing = prover.consider(victim)

    assert landing.verdict is LandingVerdict.LANDS_IF
    assert landing.conditions == ("its partner is not placed yet",)
