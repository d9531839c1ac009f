"""Transformers: what a plugin lets the scheduler see before PreFilter."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.interactions import CAUTIOUS, OWN_NODE, JoinedInteractions
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin, shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.views import SeenPod
from tests.builders import make_node, make_pod, make_snapshot

_GUEST = make_pod("guest", cpu="3", node="")
_RENAMED = {"accelerator": "gpu"}


class Guests:
    """Counts a pod on the first node that the cluster does not have, and translates an old label of pods."""

    name = "Guests"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del cluster, profile

    def before_pre_filter(self, cycle: Cycle) -> None:
        """Both."""
        cycle.seen = (SeenPod(_GUEST, 0),)
        pod = cycle.pod.pod
        if "old" in pod.labels:
            spec = msgspec.structs.replace(pod.spec, node_selector=_RENAMED)
            cycle.pod = cycle.cluster.placement_class(msgspec.structs.replace(pod, spec=spec))


def scheduler_of(*pods: Pod) -> Scheduler:
    """kube-scheduler with the plugin, over two nodes of 4 CPUs."""
    table = {**PLUGINS, "Guests": SchedulingPlugin(plugin=Guests, points=frozenset({"filter"}))}
    nodes = [make_node("a", cpu="4"), make_node("b", cpu="4", labels=_RENAMED)]
    profile = SchedulerProfile(
        scheduler_name="default-scheduler",
        pre_filters=("NodeResourcesFit", "NodeAffinity"),
        filters=("NodeAffinity", "NodeResourcesFit", "Guests"),
        scores=(("NodeResourcesFit", 1),),
    )
    return Scheduler(shadow_cluster_of(make_snapshot(nodes, pods), table), replace(profile), plugins=table)


def test_pods_that_a_scheduler_sees_take_room_in_its_eyes_alone() -> None:
    pod = make_pod("p", cpu="2", node="")
    scheduler = scheduler_of(pod)

    evaluation = scheduler.evaluate(pod)

    assert evaluation.nodes.tolist() == [1]
    assert evaluation.first_obstacle_on(0).reasons == ("Insufficient cpu",)
    assert not scheduler.cluster.table.requested.any()


def test_scores_are_those_of_what_the_scheduler_sees() -> None:
    pod = make_pod("p", cpu="1", node="")

    table = scheduler_of(pod).evaluate(pod).scores()

    assert table.totals[0] < table.totals[1]


def test_pod_is_taken_for_what_a_transformer_makes_of_it() -> None:
    pod = make_pod("p", cpu="1", node="", labels={"old": "yes"})

    assert scheduler_of(pod).evaluate(pod).nodes.tolist() == [1]


def test_pod_that_a_transformer_can_help_may_be_helped_by_every_filter() -> None:
    pod = make_pod("p", cpu="1", node="")
    plugins = {"Guests": CAUTIOUS, "NodeResourcesFit": OWN_NODE}

    assert JoinedInteractions(plugins, frozenset({"Guests"})).helpers(pod) == plugins.keys()
    assert JoinedInteractions(plugins).helpers(pod) == {"Guests"}
