"""What the rows of the table declare of how placed pods bear on each other, by brute force over small clusters."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.model.volume_sources import READ_WRITE_ONCE_POD
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import FilterPlugin, InteractingPlugin, Plugin, ReservePlugin
from descheduler.placement.framework.interactions import (
    CAUTIOUS,
    OWN_NODE,
    GatheredPods,
    Interactions,
    JoinedInteractions,
)
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot, required_anti_affinity
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION
from tests.placement.plugins.volumes.storage import ephemeral, make_claim, make_storage, make_volume, on_nodes

PROFILE = DEFAULT_CONFIGURATION.profiles[0]
SPREADING = replace(
    PROFILE,
    args=PluginArgs.made_of(
        PodTopologySpreadArgs((TopologySpreadConstraint(1, ZONE, "DoNotSchedule"),), is_system_defaulted=False)
    ),
)
NODES = [
    make_node(name, cpu="2", pods="3", labels={ZONE: zone, HOSTNAME: name})
    for name, zone in (("a", "east"), ("b", "east"), ("c", "west"))
]
STORAGE = make_storage(
    claims=[
        make_claim("alone", volume="v", modes=frozenset({READ_WRITE_ONCE_POD})),
        make_claim("open"),
    ],
    volumes=[
        make_volume("v", claim="alone", access_modes=frozenset({READ_WRITE_ONCE_POD})),
        make_volume("w"),
        make_volume("x", node_affinity=on_nodes("a")),
    ],
)
FILTERS = [name for name, row in PLUGINS.items() if row.plugin is not None and "filter" in row.points]


def _attracted(key: str) -> dict[str, Any]:
    terms = [{"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": key}]
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _spread(key: str, **facts: Any) -> dict[str, Any]:
    labels = {"matchLabels": {"app": "x"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels} | facts


_AFFINITIES = [
    None,
    _attracted(ZONE),
    _attracted(HOSTNAME),
    required_anti_affinity({"app": "x"}, key=ZONE),
    required_anti_affinity({"app": "x"}, key=HOSTNAME),
    required_anti_affinity({"app": "x"}, key=ZONE, namespaceSelector={}),
]
_SPREADS = [
    (),
    (_spread(ZONE),),
    (_spread(HOSTNAME, minDomains=3),),
    (_spread(ZONE, whenUnsatisfiable="ScheduleAnyway"),),
]
_PORT = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}


_KINDS = list(
    product(
        ["default", "other"],
        ["x", "y"],
        [None, "1"],
        range(len(_AFFINITIES)),
        range(len(_SPREADS)),
        [(), ("alone",), ("open",), ("new",)],
        [False, True],
    )
)


def pods() -> st.SearchStrategy[Pod]:
    """A pod that looks for a node, with some of what plugins look at."""
    return st.sampled_from(_KINDS).map(lambda kind: _pod(*kind))


@cache
def _pod(
    namespace: str, app: str, cpu: str | None, affinity: int, spread: int, claims: tuple[str, ...], has_port: bool
) -> Pod:
    facts: dict[str, Any] = {"cpu": cpu, "affinity": _AFFINITIES[affinity], "spread": _SPREADS[spread]}
    facts |= {"volumes": [ephemeral()]} if claims == ("new",) else {"claims": claims}
    if has_port:
        facts["spec"] = {"containers": [_PORT | {"resources": {"requests": {"cpu": cpu} if cpu else {}}}]}
    return make_pod("new", node="", uid="", namespace=namespace, labels={"app": app}, **facts)


def _plain(app: str, *, affinity: int = 0, spread: int = 0) -> Pod:
    return _pod("default", app, None, affinity, spread, (), False)


class World(NamedTuple):
    """A cluster with one plugin, and what the plugin declares."""

    cluster: ShadowCluster
    plugin: Plugin
    interactions: Interactions

    def refused(self, pod: Pod) -> BoolMask:
        """The nodes that the plugin does not leave to `pod`."""
        return self._asked(Cycle(self.cluster.placement_class(pod), self.cluster))

    def closes(self, placed: Pod, pod: Pod) -> bool:
        """Whether `placed` may close its node to `pod` by more than what both request."""
        assert isinstance(self.plugin, FilterPlugin)
        settled = frozenset({self.plugin.name} if self.plugin.is_static else ())
        joined = JoinedInteractions({self.plugin.name: self.interactions}, settled=settled)
        return 0 in joined.closing(GatheredPods([placed, pod])).on(1)

    def takes(self, pod: Pod, node: int) -> bool:
        """Whether the plugin leaves `node` to `pod`, which is put there."""
        cycle = Cycle(self.cluster.placement_class(pod), self.cluster)
        if self._asked(cycle)[node]:
            return False
        self.cluster.place(cycle, node, [self.plugin.ledger] if isinstance(self.plugin, ReservePlugin) else [])
        return True

    def _asked(self, cycle: Cycle) -> BoolMask:
        assert isinstance(self.plugin, FilterPlugin)
        everywhere = np.ones(len(NODES), dtype=bool)
        result = self.plugin.pre_filter(cycle)
        if result.obstacle is not None:
            return everywhere
        bits = None if result.is_skipped else self.plugin.filter(cycle)
        narrowed = ~everywhere if result.nodes is None else ~result.nodes
        return narrowed if bits is None else narrowed | (bits != 0)


def world_of(name: str, profile: SchedulerProfile, *running: Pod) -> World:
    """A cluster with the plugin of this row, empty but for pods that are `running`."""
    services = (Service("default", "x", {"app": "x"}),)
    cluster = ShadowCluster(make_snapshot(NODES, running, services=services, **STORAGE))
    row = PLUGINS[name]
    assert row.plugin is not None
    plugin = row.plugin(cluster, profile)
    told = plugin.interactions if isinstance(plugin, InteractingPlugin) else row.interactions(profile)
    return World(cluster, plugin, told)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "profile"), [*((name, PROFILE) for name in FILTERS), ("PodTopologySpread", SPREADING)]
)
@settings(max_examples=40)
@given(
    standing=st.lists(st.tuples(pods(), st.integers(0, 2)), max_size=3),
    new=pods(),
    node=st.integers(0, 2),
    asked=pods(),
)
@example(standing=[], new=_plain("x"), node=0, asked=_plain("y", affinity=1)).via("company opens a zone")
@example(standing=[], new=_plain("y", affinity=3), node=0, asked=_plain("x")).via("a placed pod closes a zone")
@example(standing=[], new=_plain("y", affinity=4), node=0, asked=_plain("x")).via("a placed pod closes its node")
def test_placed_pod_bears_on_another_only_as_the_plugin_declares(
    name: str, profile: SchedulerProfile, standing: list[tuple[Pod, int]], new: Pod, node: int, asked: Pod
) -> None:
    world = world_of(name, profile)
    for pod, where in standing:
        world.takes(pod, where)
    before = world.refused(asked)
    assume(world.takes(new, node))

    after = world.refused(asked)

    elsewhere = np.arange(len(NODES)) != node
    is_same = bool((before == after)[elsewhere].all())
    if not world.interactions.can_be_helped(asked):
        assert not (before & ~after).any()
    if not world.interactions.interact(new, asked):
        assert is_same
    if world.interactions.is_local(asked) and not world.interactions.is_felt_widely(new):
        assert is_same
    if not (world.closes(new, asked) or world.interactions.interact(new, asked)):
        assert name == "NodeResourcesFit" or before[node] or not after[node]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FILTERS if name != "PodTopologySpread"])
@settings(max_examples=40)
@given(gathered=st.lists(pods(), min_size=1, max_size=6))
def test_many_pods_at_once_interact_as_two_of_them_do(name: str, gathered: list[Pod]) -> None:
    interactions = world_of(name, PROFILE).interactions

    meetings = JoinedInteractions({name: interactions}).interacting(GatheredPods(gathered))

    for place, pod in enumerate(gathered):
        others = [other for other, each in enumerate(gathered) if interactions.interact(each, pod)]
        assert sorted({other for each in meetings.values() for other in each.on(place).tolist()}) == others


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "profile"), [*((name, PROFILE) for name in FILTERS), ("PodTopologySpread", SPREADING)]
)
@settings(max_examples=40)
@given(
    standing=st.lists(st.tuples(pods(), st.integers(0, 2)), max_size=3),
    ending=pods(),
    node=st.integers(0, 2),
    asked=pods(),
)
@example(standing=[], ending=_plain("x"), node=0, asked=_plain("x", affinity=1)).via("is not the first of its kind yet")
@example(standing=[], ending=_plain("y", affinity=3), node=0, asked=_plain("x")).via("keeps a zone closed")
@example(standing=[], ending=_plain("y", affinity=4), node=0, asked=_plain("x")).via("keeps its node closed")
@example(standing=[(_plain("x"), 2)], ending=_plain("x"), node=2, asked=_plain("x", spread=1)).via("is not counted")
def test_pod_hinders_another_while_it_is_ending_only_as_the_plugin_declares(
    name: str, profile: SchedulerProfile, standing: list[tuple[Pod, int]], ending: Pod, node: int, asked: Pod
) -> None:
    ending = msgspec.structs.replace(ending, name="ending", uid="ending", node_name=NODES[node].name, phase="Running")
    world = world_of(name, profile, ending)
    joined = JoinedInteractions({name: world.interactions})
    for pod, where in standing:
        world.takes(pod, where)
    world.cluster.terminate(ending)
    before = world.refused(asked)
    world.cluster.remove(ending)

    opened = before & ~world.refused(asked)

    opened[node] = False
    assert joined.hinders_while_ending(ending, asked) or not opened.any()


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["NodePorts", "NodeVolumeLimits", "PodTopologySpread", "VolumeBinding", "VolumeRestrictions"]
)
# Most pods that are drawn have a claim or a port, so that a plugin has a say; unlucky seeds draw hardly any other.
@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
@given(placed=st.lists(st.tuples(pods(), st.integers(0, 2)), max_size=4), asked=pods())
def test_plugin_without_a_say_for_good_has_none_whatever_is_placed(
    name: str, placed: list[tuple[Pod, int]], asked: Pod
) -> None:
    world = world_of(name, PROFILE)
    assert isinstance(world.plugin, FilterPlugin)
    assume(world.plugin.pre_filter(Cycle(world.cluster.placement_class(asked), world.cluster)).is_for_good)
    for pod, node in placed:
        world.takes(pod, node)

    assert world.plugin.pre_filter(Cycle(world.cluster.placement_class(asked), world.cluster)).is_skipped


def test_plugin_that_declares_nothing_is_taken_to_bear_on_everything() -> None:
    pod = make_pod("pod", node="")
    joined = JoinedInteractions(
        {"Silent": SchedulingPlugin(points=frozenset()).interactions(PROFILE), "Known": OWN_NODE}
    )

    assert joined.helpers(pod) == {"Silent"}
    assert joined.can_be_helped(pod)
    assert joined.is_felt_widely(pod)
    assert joined.interact(pod, pod)
    assert not joined.is_local(pod)
    assert SchedulingPlugin(points=frozenset()).interactions(PROFILE) is CAUTIOUS


def test_batch_under_a_hard_default_constraint_does_not_land_in_every_order() -> None:
    """The last pod finds the small zone full and the large one closed, once the others, which count, came first."""
    nodes = [make_node(name, labels={ZONE: "west", HOSTNAME: name}) for name in ("w1", "w2", "w3")]
    nodes += [make_node("e", pods="1", labels={ZONE: "east", HOSTNAME: "e"})]
    nodes += [make_node("c", unschedulable=True, labels={ZONE: "west", HOSTNAME: "c"})]
    anywhere = {"spread": [_spread(HOSTNAME, whenUnsatisfiable="ScheduleAnyway")], "owners": ["ReplicaSet/anywhere"]}
    defaulted = make_pod("defaulted", node="c", labels={"app": "x"}, owners=["ReplicaSet/defaulted"])
    others = [make_pod(f"anywhere-{index}", node="c", labels={"app": "x"}, **anywhere) for index in range(3)]
    snapshot = make_snapshot(nodes, [defaulted, *others], services=(Service("default", "x", {"app": "x"}),))
    configuration = replace(DEFAULT_CONFIGURATION, profiles=(SPREADING,))

    joint = LandingProver(snapshot, configuration=configuration).prove([defaulted, *others])

    assert joint.verdict is LandingVerdict.LANDS_IF
