"""The spec of a replacement: what its template says, and what admission added to the pod that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.objects import LimitRange, RuntimeClass
from descheduler.model.pod import PodSpec
from descheduler.placement.replacements.spec import (
    Defaults,
    for_node,
    label_keys,
    merge_specs,
    replacement_labels,
    with_label_keys,
)
from tests.builders import Object, make_pod, required_anti_affinity, required_node_affinity
from tests.placement.clusters import ZONE

GI = 2**30 * 10**9


def spec_of(**facts: Any) -> PodSpec:
    """The spec of a pod with these facts."""
    return make_pod("pod", **facts).spec


CORE = 10**9
TAINT = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
OTHER_SPREAD = {**SPREAD, "maxSkew": 2}


@pytest.mark.parametrize(
    ("field", "stated", "other"),
    [
        pytest.param("topology_spread", {"spread": [SPREAD]}, {"spread": [OTHER_SPREAD]}, id="topology spread"),
        pytest.param(
            "affinity",
            {"affinity": required_node_affinity(ZONE, "east")},
            {"affinity": required_node_affinity(ZONE, "west")},
            id="affinity",
        ),
        pytest.param("priority", {"priority": 0}, {"priority": 5}, id="priority"),
        pytest.param(
            "preemption_policy",
            {"spec": {"preemptionPolicy": "Never"}},
            {"spec": {"preemptionPolicy": "PreemptLowerPriority"}},
            id="preemption policy",
        ),
        pytest.param("scheduler_name", {"scheduler": "mine"}, {"scheduler": "yours"}, id="scheduler"),
        pytest.param(
            "scheduling_group",
            {"spec": {"schedulingGroup": {"podGroupName": "mine"}}},
            {"spec": {"schedulingGroup": {"podGroupName": "yours"}}},
            id="scheduling group",
        ),
    ],
)
def test_template_comes_first_and_the_live_pod_says_what_it_leaves_out(field: str, stated: Any, other: Any) -> None:
    template, live, neither = spec_of(**stated), spec_of(**other), spec_of()

    assert getattr(merge_specs(template, live).spec, field) == getattr(template, field)
    assert getattr(merge_specs(template, neither).spec, field) == getattr(template, field)
    assert getattr(merge_specs(neither, live).spec, field) == getattr(live, field)


@pytest.mark.parametrize(
    ("field", "facts"),
    [
        pytest.param("has_local_storage", {"volumes": [{"name": "scratch", "emptyDir": {}}]}, id="local storage"),
        pytest.param(
            "has_resource_claims",
            {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}},
            id="resource claims",
        ),
        pytest.param(
            "resource_claims", {"spec": {"resourceClaims": [{"name": "g", "resourceClaimName": "g"}]}}, id="claims"
        ),
        pytest.param("has_scheduling_group", {"spec": {"schedulingGroup": {"podGroupName": "g"}}}, id="a group"),
        pytest.param("tolerations", {"tolerations": [TAINT]}, id="tolerations"),
        pytest.param("node_selector", {"node_selector": {"disk": "ssd"}}, id="node selector"),
    ],
)
def test_what_either_has_the_replacement_has(field: str, facts: Any) -> None:
    having, without = spec_of(**facts), spec_of()

    found = [getattr(merge_specs(*pair).spec, field) for pair in ((having, without), (without, having))]

    assert found == [getattr(having, field)] * 2
    assert not getattr(merge_specs(without, without).spec, field)


@pytest.mark.parametrize("name", ["", "default-scheduler"])
def test_scheduler_of_the_live_pod_stands_where_the_template_names_the_default_one(name: str) -> None:
    assert merge_specs(spec_of(scheduler=name), spec_of(scheduler="mine")).spec.scheduler_name == "mine"


def test_priority_is_that_of_the_template_then_of_its_class_then_of_the_live_pod() -> None:
    stated, live, of_class = spec_of(priority=1), spec_of(priority=3), Defaults(priority=2)

    assert merge_specs(stated, live, of_class).spec.priority == 1
    assert merge_specs(spec_of(), live, of_class).spec.priority == 2
    assert merge_specs(spec_of(), live, Defaults(priority=0)).spec.priority == 0
    assert merge_specs(spec_of(), live).spec.priority == 3


def test_selectors_and_tolerations_are_joined_and_the_template_wins() -> None:
    runtime = RuntimeClass("kata", {}, {"disk": "hdd", "arch": "arm"})
    template, live = spec_of(node_selector={"disk": "ssd"}), spec_of(node_selector={"arch": "amd", "zone": "a"})

    found = merge_specs(template, live, Defaults(runtime_class=runtime)).spec

    assert found.node_selector == {"disk": "ssd", "arch": "amd", "zone": "a"}
    assert merge_specs(template, template).spec.node_selector is template.node_selector


def containers(*cpus: str, images: Sequence[str] = ()) -> Object:
    """Containers that request so much CPU, with these images."""
    named = images or [f"app:{place}" for place in range(len(cpus))]
    made = [
        {"name": f"c{place}", "image": image, "resources": {"requests": {"cpu": cpu} if cpu else {}}}
        for place, (cpu, image) in enumerate(zip(cpus, named, strict=True))
    ]
    return {"spec": {"containers": made}}


@pytest.mark.parametrize(
    ("template", "live", "cpu", "notes"),
    [
        pytest.param(containers("1"), containers("1"), 1, [], id="alike"),
        pytest.param(containers("1"), containers("2"), 1, ["other"], id="another size"),
        pytest.param(containers(""), containers("2"), 2, [], id="a size that the template lacks"),
        pytest.param(containers("1"), containers("1", "1"), 2, ["1 container"], id="an injected container"),
        pytest.param(containers("1"), containers("1", "1", "1"), 3, ["2 containers"], id="two injected containers"),
        pytest.param(containers("1", "1"), containers("1"), 2, ["other"], id="a container that the live pod lacks"),
        pytest.param(
            containers("", images=["app"]),
            containers("2", "1", images=["mesh", "app"]),
            3,
            ["1 container"],
            id="an injected container in front",
        ),
        pytest.param(
            containers("", "", images=["a", "b"]),
            containers("1", "2", images=["b", "a"]),
            3,
            [],
            id="containers in another order",
        ),
        pytest.param(
            containers("", "5", images=["a", "b"]),
            containers("1", "2", images=["b", "a"]),
            7,
            ["other"],
            id="each takes from that of its own image",
        ),
        pytest.param(
            containers("", "5", images=["new", "b"]),
            containers("1", "2", images=["b", "a"]),
            5,
            ["other"],
            id="none takes from that of another one",
        ),
        pytest.param(
            containers("", images=["new"]), containers("1", images=["old"]), 1, [], id="a container with a new image"
        ),
    ],
)
def test_containers_of_the_template_are_filled_and_injected_ones_added(
    template: Any, live: Any, cpu: int, notes: list[str]
) -> None:
    merged = merge_specs(spec_of(**template), spec_of(**live))

    assert merged.spec.requests == {"cpu": cpu * CORE}
    told = {
        "other": "the owner's pod template requests other resources than the running pod",
        "1 container": "1 container beyond the owner's pod template; assumed to be injected again",
        "2 containers": "2 containers beyond the owner's pod template; assumed to be injected again",
    }
    assert list(merged.notes) == [told[note] for note in notes]


@pytest.mark.parametrize(
    ("num_containers", "num_init", "told"),
    [(0, 1, "1 container beyond"), (1, 1, "2 containers beyond"), (0, 2, "2 containers beyond")],
)
def test_injected_init_containers_are_told_with_the_others(num_containers: int, num_init: int, told: str) -> None:
    template, live = containers("1"), containers(*["1"] * (1 + num_containers))
    live["spec"]["initContainers"] = [{"name": f"i{place}", "image": f"i:{place}"} for place in range(num_init)]

    merged = merge_specs(spec_of(**template), spec_of(**live))

    assert merged.notes[0] == f"{told} the owner's pod template; assumed to be injected again"
    assert len(merged.spec.init_containers) == num_init


PORT = [{"hostPort": 80, "containerPort": 80}]


def test_host_ports_of_injected_containers_are_added_and_no_others() -> None:
    plain, with_port = containers("1"), containers("1")
    with_port["spec"]["containers"][0]["ports"] = PORT
    injected = containers("1", "1")
    injected["spec"]["containers"][1]["ports"] = PORT

    assert not merge_specs(spec_of(**plain), spec_of(**with_port)).spec.host_ports
    assert len(merge_specs(spec_of(**plain), spec_of(**injected)).spec.host_ports) == 1
    assert len(merge_specs(spec_of(**with_port), spec_of(**plain)).spec.host_ports) == 1


def test_defaults_of_a_limit_range_come_between_the_template_and_the_live_pod() -> None:
    """A request follows from the limit of the same container before that."""
    ranges = [LimitRange("default", "r", {"cpu": 2 * CORE, "memory": GI}, {"cpu": 4 * CORE})]
    live = spec_of(requests={"cpu": "3", "memory": "3Gi", "ephemeral-storage": "1Gi"})

    filled = merge_specs(spec_of(), live, Defaults(ranges)).spec
    of_limit = merge_specs(spec_of(limits={"cpu": "1"}), live, Defaults(ranges)).spec

    assert filled.requests == {"cpu": 2 * CORE, "memory": GI, "ephemeral-storage": GI}
    assert filled.containers[0].limits == {"cpu": 4 * CORE}
    assert of_limit.requests["cpu"] == CORE


def test_overhead_is_that_of_the_runtime_class_then_of_the_template_then_of_the_live_pod() -> None:
    def overhead(cpu: str) -> PodSpec:
        return spec_of(cpu="1", spec={"overhead": {"cpu": cpu}})

    runtime = Defaults(runtime_class=RuntimeClass("kata", {"cpu": 3 * CORE}))

    assert merge_specs(overhead("1"), overhead("2"), runtime).spec.requests == {"cpu": 4 * CORE}
    assert merge_specs(overhead("1"), overhead("2")).spec.requests == {"cpu": 2 * CORE}
    assert merge_specs(spec_of(cpu="1"), overhead("2")).spec.requests == {"cpu": 3 * CORE}


def test_pod_level_requests_are_those_of_the_template_then_of_the_live_pod() -> None:
    def whole(cpu: str) -> PodSpec:
        return spec_of(cpu="1", spec={"resources": {"requests": {"cpu": cpu}}})

    assert merge_specs(whole("5"), whole("6")).spec.requests == {"cpu": 5 * CORE}
    assert merge_specs(spec_of(cpu="1"), whole("6")).spec.requests == {"cpu": 6 * CORE}


def test_pod_of_a_daemon_set_is_for_its_node_alone() -> None:
    """Required node affinity is replaced; all else stays."""
    spec = spec_of(affinity={**required_node_affinity(ZONE, "east"), **required_anti_affinity({"app": "a"})})

    bound = for_node(spec, "a", spec_of(tolerations=[TAINT]).tolerations)

    assert bound.affinity is not None
    assert bound.affinity.node_required is not None
    (term,) = bound.affinity.node_required
    assert [(each.key, each.operator, each.values) for each in term.fields] == [
        ("metadata.name", "In", frozenset(["a"]))
    ]
    assert not term.expressions
    assert spec.affinity is not None
    assert bound.affinity.anti_required == spec.affinity.anti_required
    assert [each.key for each in bound.tolerations] == ["gpu"]


@pytest.mark.parametrize(
    ("template", "victim", "labels"),
    [
        pytest.param(None, {"app": "a"}, {"app": "a"}, id="without a template those of the pod"),
        pytest.param(None, {"app": "a", "apps.kruise.io/cloneset-instance-id": "x"}, {"app": "a"}, id="but for its id"),
        pytest.param({"app": "b"}, {"app": "a", "mesh": "on"}, {"app": "b"}, id="those of the template"),
        pytest.param(
            {"app": "b"}, {"pod-template-hash": "1"}, {"app": "b", "pod-template-hash": "1"}, id="and of its revision"
        ),
        pytest.param(
            {"pod-template-hash": "2"}, {"pod-template-hash": "1"}, {"pod-template-hash": "2"}, id="unless it says so"
        ),
    ],
)
def test_labels_are_those_of_the_template_and_those_that_controllers_add(
    template: dict[str, str] | None, victim: dict[str, str], labels: dict[str, str]
) -> None:
    made = None if template is None else make_pod("t", labels=template)

    assert replacement_labels(make_pod("victim", labels=victim), made) == labels


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("is_required", [True, False])
def test_label_keys_go_into_the_selectors_of_affinity(kind: str, is_required: bool) -> None:
    """With the values of the pod's own labels; keys that it has not got are left out."""
    term = {
        "topologyKey": ZONE,
        "labelSelector": {"matchLabels": {"app": "a"}},
        "matchLabelKeys": ["version", "missing"],
        "mismatchLabelKeys": ["tenant"],
    }
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    stated = {required: [term]} if is_required else {preferred: [{"weight": 1, "podAffinityTerm": term}]}
    labels = {"version": "1", "tenant": "x", "app": "a"}

    found = with_label_keys(spec_of(affinity={kind: stated}).affinity, labels)

    assert found is not None
    names = {"podAffinity": ("pod_required", "pod_preferred"), "podAntiAffinity": ("anti_required", "anti_preferred")}
    (each,) = getattr(found, names[kind][0 if is_required else 1])
    selector = (each if is_required else each.term).selector
    assert {(one.key, one.operator, tuple(one.values)) for one in selector.requirements} == {
        ("app", "In", ("a",)),
        ("version", "In", ("1",)),
        ("tenant", "NotIn", ("x",)),
    }
    assert with_label_keys(found, labels) == found
    assert set(label_keys(found)) == {"version", "missing", "tenant"}


def test_affinity_without_label_keys_stays_as_it_is() -> None:
    affinity = spec_of(affinity=required_anti_affinity({"app": "a"})).affinity

    assert with_label_keys(affinity, {"app": "a"}) is affinity
    assert with_label_keys(None, {}) is None
    assert label_keys(None) == ()
