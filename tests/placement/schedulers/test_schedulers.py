"""The schedulers of a cluster by the name that pods give: which are modelled, in which order, and what is optional."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.scheduler_model import Unit
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot

GPU = "example.com/gpu"
LISTED = make_node("a", allocatable={GPU: "1"})


def schedulers(*names: str, nodes: Any = (LISTED,), plugins: Any = PLUGINS, pack: str = "") -> Schedulers:
    """One for each name, made of kube-scheduler; `pack` prefers full nodes."""
    arguments = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
    profiles = [
        {
            "schedulerName": name,
            "pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}] if name == pack else [],
        }
        for name in names or ("default-scheduler",)
    ]
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": profiles,
        },
        plugins=plugins,
    )
    return Schedulers(ShadowCluster(make_snapshot(nodes)), configuration, plugins=plugins)


def waiting(name: str, scheduler: str = "default-scheduler", **facts: Any) -> Pod:
    return make_pod(name, node="", scheduler=scheduler, **facts)


@pytest.mark.parametrize(
    ("scheduler", "is_foreign", "doubt"),
    [
        ("default-scheduler", False, ""),
        ("mine", False, ""),
        ("theirs", True, "scheduler theirs is not modelled"),
    ],
)
def test_scheduler_that_nothing_sets_up_is_foreign(scheduler: str, is_foreign: bool, doubt: str) -> None:
    found, pod = schedulers("default-scheduler", "mine"), waiting("pod", scheduler)

    assert (found.is_foreign(pod), found.doubt(pod)) == (is_foreign, doubt)
    assert found.scheduler_of(pod).name == ("default-scheduler" if is_foreign else scheduler)
    assert found.of_another_kind(scheduler) is None


@pytest.mark.parametrize(
    ("facts", "has_resources"),
    [
        pytest.param({"cpu": "1"}, False, id="no extended resource"),
        pytest.param({"requests": {GPU: "1"}}, False, id="one that a node lists"),
        pytest.param({"requests": {"example.com/other": "1"}}, True, id="one that no node lists"),
        pytest.param({"requests": {"hugepages-2Mi": "2Mi"}}, False, id="no extended resource, which no node lists"),
    ],
)
def test_refusals_may_mean_nothing_to_a_scheduler_that_is_not_modelled(facts: Any, has_resources: bool) -> None:
    found = schedulers()
    optional = found.optional_filters(waiting("pod", "theirs", **facts))

    assert found.optional_filters(waiting("pod", **facts)) == frozenset()
    assert {name for name, row in PLUGINS.items() if row.is_optional} <= optional
    assert ("NodeResourcesFit" in optional) is has_resources


def test_units_keep_the_places_of_their_scheduler() -> None:
    """By priority; those of one scheduler in its own order, and equal ones as they are given."""
    found = schedulers("default-scheduler", "mine")
    facts = [("a", "mine", 1), ("b", "theirs", 5), ("c", "default-scheduler", 1), ("d", "mine", 7), ("e", "theirs", 1)]
    units = [Unit((waiting(name, scheduler, priority=priority),)) for name, scheduler, priority in facts]

    assert "".join(unit.pods[0].name for unit in found.order(units)) == "dbace"


def test_preference_is_that_of_the_scheduler_of_most_pods() -> None:
    found = schedulers("default-scheduler", "packs", pack="packs")
    pods = [waiting(f"p{number}", "packs") for number in range(2)]

    assert found.preference([*pods, waiting("other")]).packing_weights == {"cpu": 1}
    assert found.preference([pods[0], waiting("x"), waiting("y")]).packing_weights == {}
    assert found.preference([*(waiting(f"t{n}", "theirs") for n in range(9)), pods[0]]).packing_weights == {"cpu": 1}
    assert found.preference([waiting("t", "theirs")]).packing_weights == {}


@pytest.mark.parametrize(
    ("scheduler", "is_queued"),
    [
        pytest.param("default-scheduler", True, id="a scheduler that runs the plugin"),
        pytest.param("mine", False, id="one that does not"),
        pytest.param("theirs", False, id="one that is not modelled"),
    ],
)
def test_what_waits_beside_pods_is_queued_where_its_scheduler_runs_the_plugin(scheduler: str, is_queued: bool) -> None:
    queued = waiting("reservation", scheduler)
    row = SchedulingPlugin(points=frozenset({"score"}), is_modelled=False, queues=lambda snapshot: [queued])
    plugins = {**PLUGINS, "Queues": row}
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {"schedulerName": "default-scheduler", "plugins": {"score": {"enabled": [{"name": "Queues"}]}}},
                {"schedulerName": "mine"},
            ],
        },
        plugins=plugins,
    )

    found = Schedulers(ShadowCluster(make_snapshot([LISTED])), configuration, plugins=plugins)

    assert list(found.queued_beside()) == ([queued] if is_queued else [])
