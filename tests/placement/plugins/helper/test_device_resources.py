"""Extended resources that a DeviceClass may serve."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.resource_claims import DEVICE_CLASS_KIND, DeviceClass
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.helper.device_resources import (
    IMPLICIT,
    ExtendedResources,
    ServedResources,
    unlisted_sentence,
)
from tests.builders import NOW, make_node, make_pod
from tests.placement.clusters import make_cluster

GPU = "example.com/gpu"


def device_class(name: str, resource: str = "", age: float | None = None) -> DeviceClass:
    """A class that serves `resource`, made `age` seconds ago."""
    return DeviceClass(name, (), resource, created_at=None if age is None else NOW - timedelta(seconds=age))


@pytest.mark.parametrize(
    ("classes", "holder", "contested"),
    [
        pytest.param([device_class("a", GPU)], "a", [], id="one class"),
        pytest.param([device_class("a", GPU, 20), device_class("b", GPU, 10)], "b", [], id="the youngest"),
        pytest.param([device_class("a", GPU, 10), device_class("b", GPU, 20)], "a", ["b"], id="not an older one"),
        pytest.param(
            [device_class("b", GPU, 10), device_class("a", GPU, 10)], "a", ["b"], id="the first of equal ones"
        ),
        pytest.param([device_class("a", GPU), device_class("b", GPU, 10)], "b", [], id="one that tells its age"),
        pytest.param([device_class("a", GPU), device_class("b", GPU)], "a", ["b"], id="none tells its age"),
    ],
)
def test_resource_is_served_by_the_youngest_class(
    classes: list[DeviceClass], holder: str, contested: list[str]
) -> None:
    found = ServedResources.of(classes)

    assert found.classes[GPU].name == holder
    assert sorted(found.contested) == [IMPLICIT + name for name in contested]
    assert IMPLICIT + holder in found.classes


def test_class_without_a_resource_serves_its_own_name_alone() -> None:
    assert set(ServedResources.of([device_class("a")]).classes) == {IMPLICIT + "a"}


def resources(*, is_read: bool = False, runs: bool = True, version: str = "1.37", **facts: Any) -> ExtendedResources:
    """What is served where classes were read or not, by a scheduler that runs the plugin or not."""
    kinds = frozenset({"Node", "Pod", *([DEVICE_CLASS_KIND] if is_read else [])})
    objects = {DEVICE_CLASS_KIND: (device_class("a", GPU),)} if is_read else {}
    pod = make_pod("p", requests={GPU: "1", "cpu": "1", f"{IMPLICIT}a": "1"})
    node = make_node("n", **facts)
    cluster = make_cluster([node], [pod], version=KubeVersion.parse(version), kinds=kinds, objects=objects)
    cluster.placement_class(pod)
    filters = ("DynamicResources",) if runs else ("NodeName",)
    return ExtendedResources(cluster, SchedulerProfile(scheduler_name="s", filters=filters))


@pytest.mark.parametrize(
    ("facts", "is_unknown"),
    [
        pytest.param({}, True, id="classes were not read"),
        pytest.param({"is_read": True}, False, id="classes were read"),
        pytest.param({"runs": False}, False, id="the plugin does not run"),
        pytest.param({"version": "1.35"}, False, id="before the gate was on"),
        pytest.param({"allocatable": {GPU: "1"}}, False, id="a node lists some"),
        pytest.param({"allocatable": {GPU: "0"}}, True, id="a node lists none"),
    ],
)
def test_resource_that_no_node_lists_may_be_served_by_a_class_that_was_not_read(facts: Any, is_unknown: bool) -> None:
    assert resources(**facts).is_unknown(GPU) is is_unknown


def test_resources_of_the_node_are_known() -> None:
    found = resources()

    assert not found.is_unknown("cpu")
    assert found.is_unknown(f"{IMPLICIT}a")


def test_classes_serve_where_the_plugin_runs() -> None:
    assert set(resources(is_read=True).served.classes) == {GPU, IMPLICIT + "a"}
    assert not resources(is_read=True, runs=False).served.classes


def test_class_that_would_serve_a_resource_is_named() -> None:
    assert unlisted_sentence(GPU) == (
        f"no node lists {GPU}; a DeviceClass with extendedResourceName: {GPU} may serve it"
    )
    assert unlisted_sentence(f"{IMPLICIT}a") == f"no node lists {IMPLICIT}a; a DeviceClass named a may serve it"


def test_contested_resource_is_told_with_the_class_that_has_it() -> None:
    found = ServedResources.of([device_class("a", GPU), device_class("b", GPU)]).contested[IMPLICIT + "b"]

    assert found.reason == f"Insufficient {IMPLICIT}b"
    assert found.short == (
        f"insufficient {IMPLICIT}b, unless kube-scheduler was started before DeviceClass a was created"
    )
