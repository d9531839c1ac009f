"""What a scheduler keeps from one question to the next makes no difference to its answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.attempt import place
from descheduler.placement.framework.evaluation import Choice
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitArgs
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot, preferred_node_affinity, required_anti_affinity
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

pytestmark = pytest.mark.long

DEFAULT = DEFAULT_CONFIGURATION.profiles[0]
PACKING = replace(DEFAULT, args=PluginArgs.made_of(NodeResourcesFitArgs(strategy="MostAllocated")))
_KINDS: list[dict[str, Any]] = [
    {"cpu": "4", "memory": "8Gi", "labels": {ZONE: "east"}},
    {"cpu": "4", "memory": "8Gi", "labels": {ZONE: "west"}},
    {"cpu": "2", "memory": "16Gi", "labels": {ZONE: "west"}, "taints": ["soft:PreferNoSchedule"]},
    {"cpu": "8", "memory": "8Gi"},
    {"cpu": "3", "memory": "5Gi", "labels": {ZONE: "east"}, "unschedulable": True},
]
NODES = [make_node(f"n{number:02}", pods="4", **_KINDS[number % len(_KINDS)]) for number in range(25)]


def _spread(key: str, unsatisfiable: str) -> dict[str, Any]:
    labels = {"matchLabels": {"app": "a"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": unsatisfiable, "labelSelector": labels}


PODS = [
    make_pod("plain", node="", cpu="500m", memory="1Gi", labels={"app": "a"}),
    make_pod("large", node="", cpu="2", memory="3Gi", labels={"app": "b"}),
    make_pod("empty", node="", labels={"app": "b"}),
    make_pod("spread", node="", cpu="500m", memory="1Gi", labels={"app": "a"}, spread=[_spread(ZONE, "DoNotSchedule")]),
    make_pod("even", node="", cpu="1", labels={"app": "a"}, spread=[_spread(HOSTNAME, "ScheduleAnyway")]),
    make_pod("alone", node="", cpu="100m", labels={"app": "a"}, affinity=required_anti_affinity({"app": "a"})),
    make_pod("choosy", node="", cpu="1", labels={"app": "b"}, affinity=preferred_node_affinity((ZONE, "west", 10))),
]

_steps = st.lists(
    st.tuples(st.sampled_from(["place", "take off", "try", "undo"]), st.integers(0, len(PODS) - 1), st.integers(0, 99)),
    min_size=1,
    max_size=25,
)


class Answer(NamedTuple):
    """Where a pod may go, and where it goes."""

    feasible: list[bool]
    choice: Choice | None


def answer_of(scheduler: Scheduler, pod: Pod) -> Answer:
    """The answer of a scheduler that may have been asked before."""
    evaluation = scheduler.evaluate(pod)
    choice = evaluation.choose()
    if choice is not None and evaluation.num_nodes > 1:
        assert choice.total == evaluation.scores().totals.max()
    return Answer(evaluation.feasible.tolist(), choice)


def fresh(placed: list[Placed], profile: SchedulerProfile) -> Scheduler:
    """A scheduler that was asked nothing yet, over a cluster with pods that were there from the start."""
    pods = [
        msgspec.structs.replace(each.pod, node_name=NODES[each.node].name, name=f"pod-{number}", uid=str(number))
        for number, each in enumerate(placed)
    ]
    return Scheduler(ShadowCluster(make_snapshot(NODES, pods)), profile, plugins=PLUGINS)


@pytest.mark.parametrize("profile", [pytest.param(DEFAULT, id="default"), pytest.param(PACKING, id="packing")])
@settings(max_examples=30)
@given(steps=_steps)
def test_answers_after_any_moves_are_those_of_a_scheduler_that_was_asked_nothing(
    profile: SchedulerProfile, steps: list[tuple[str, int, int]]
) -> None:
    cluster = ShadowCluster(make_snapshot(NODES, []))
    scheduler = Scheduler(cluster, profile, plugins=PLUGINS)
    placed: list[Placed] = []
    trials = []
    for kind, which, seat in steps:
        if kind == "place" and (placement := place(scheduler.evaluate(PODS[which])).placement) is not None:
            placed.append(placement.placed)
        elif kind == "take off" and placed:
            cluster.take_off(placed.pop(seat % len(placed)))
        elif kind == "try":
            trials.append((cluster.what_if(), list(placed)))
        elif kind == "undo" and trials:
            trial, placed = trials.pop()
            trial.take_back()

        asked = PODS[(which + seat) % len(PODS)]
        assert answer_of(scheduler, asked) == answer_of(fresh(placed, profile), asked)
