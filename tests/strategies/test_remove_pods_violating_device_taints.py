"""RemovePodsViolatingDeviceTaints: pods whose devices have a taint that their claims do not tolerate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.builders import Object, make_node, make_pod, node_object, owner, pod_object
from tests.explanation.questions import pod_explanation, policy_of
from tests.placement.plugins.dynamic_resources.worlds import GPU, device, request, slice_of, template
from tests.strategies.runs import evicted, policy_with, run_plugin
from tests.strategies.tainted_devices import BROKEN, PLUGIN, run, taint, world


def rule(selector: Object | None, **fields: Any) -> Object:
    """A DeviceTaintRule with the taint `broken`."""
    spec = {"taint": BROKEN, **({} if selector is None else {"deviceSelector": selector}), **fields}
    return {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec}


def templated(objects: Sequence[Object]) -> list[Object]:
    """The same where the claim was made for pod `p` from the template `t`."""
    bound = next(each for each in objects if each["kind"] == "ResourceClaim")
    bound["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "default-p", "controller": True}
    ]
    pod = next(each for each in objects if each["kind"] == "Pod" and each["metadata"]["name"] == "p")
    pod["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "t"}]
    pod["status"]["resourceClaimStatuses"] = [{"name": "c", "resourceClaimName": "c"}]
    return [*objects, template("t", request("r"))]


@pytest.mark.parametrize(
    ("taints", "args", "expected"),
    [
        pytest.param([], {}, [], id="no taint"),
        pytest.param([taint()], {}, ["p"], id="NoSchedule"),
        pytest.param([taint("NoExecute")], {}, [], id="kube-controller-manager sees to NoExecute"),
        pytest.param([taint("NoExecute")], {"effects": ["NoExecute"]}, ["p"], id="requested"),
        pytest.param([taint()], {"effects": ["NoExecute"]}, [], id="another effect"),
        pytest.param([taint("None")], {"effects": ["NoSchedule", "NoExecute"]}, [], id="a taint without effect"),
        pytest.param([taint()], {"keys": ["other"]}, [], id="another key"),
        pytest.param([taint(key="other"), taint()], {"keys": ["broken"]}, ["p"], id="one of two keys"),
        pytest.param([taint()], {"drivers": [GPU]}, ["p"], id="the driver"),
        pytest.param([taint()], {"drivers": ["nic.example.com"]}, [], id="another driver"),
        pytest.param([taint()], {"namespaces": {"exclude": ["default"]}}, [], id="another namespace"),
    ],
)
def test_pods_leave_devices_with_taints_that_count(
    taints: list[Object], args: dict[str, Any], expected: list[str]
) -> None:
    assert evicted(run(world(*taints), **args)) == expected


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param({"key": "broken", "operator": "Exists"}, [], id="the key"),
        pytest.param({"operator": "Exists"}, [], id="everything"),
        pytest.param({"key": "broken", "operator": "Equal", "value": "no"}, ["p"], id="another value"),
        pytest.param({"key": "broken", "operator": "Exists", "effect": "NoExecute"}, ["p"], id="another effect"),
    ],
)
def test_what_the_allocation_tolerates_stays(toleration: Object, expected: list[str]) -> None:
    assert evicted(run(world(taint(), tolerations=[toleration]))) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param({"driver": GPU, "pool": "a", "device": "gpu-0"}, ["p"], id="the device"),
        pytest.param({"driver": GPU}, ["p"], id="all of the driver"),
        pytest.param({}, ["p"], id="an empty selector is for all devices"),
        pytest.param(None, [], id="without a selector none is selected"),
        pytest.param({"pool": "b"}, [], id="another pool"),
        pytest.param({"device": "gpu-1"}, [], id="another device of the pool"),
    ],
)
def test_rules_taint_the_devices_that_they_select(selector: Object | None, expected: list[str]) -> None:
    assert evicted(run(world(others=[rule(selector)]))) == expected


@pytest.mark.parametrize(
    ("scheduler", "taints", "expected"),
    [
        pytest.param({"kubeVersion": "1.37"}, [], ["p"], id="which the scheduler goes by"),
        pytest.param({"kubeVersion": "1.36"}, [], [], id="which the scheduler does not know"),
        pytest.param(
            {"kubeVersion": "1.36", "featureGates": {"DRADeviceTaintRules": True}}, [], ["p"], id="where its gate is on"
        ),
        pytest.param({"kubeVersion": "1.36"}, [taint()], ["p"], id="beside the same taint of the slice"),
    ],
)
def test_pod_leaves_a_device_that_a_rule_taints(scheduler: Object, taints: list[Object], expected: list[str]) -> None:
    """Else the replacement could get the same device, and would be evicted again in the next run."""
    objects = templated(world(*taints, others=[rule({"device": "gpu-0", "pool": "a"})]))

    decisions = run(objects, verifies=scheduler)

    assert evicted(decisions) == expected
    assert [each.verdict.code for each in decisions.refusals] == ([] if expected else ["SelectedAgain"])


def test_rule_taints_an_allocated_device_that_no_slice_lists_any_more() -> None:
    """The driver has withdrawn the device, or the slices of the node are deleted."""
    objects = world(others=[rule({"device": "gone"})])
    bound = next(each for each in objects if each["kind"] == "ResourceClaim")
    bound["status"]["allocation"]["devices"]["results"][0]["device"] = "gone"

    assert evicted(run(objects)) == ["p"]


def test_slice_that_a_newer_generation_replaces_taints_nothing() -> None:
    """The driver has published the device without its taint, and has not deleted the old slice yet."""
    older = slice_of("a", device("gpu-0", taints=[taint()]), device("gpu-1"), name="older")
    older["spec"]["pool"]["generation"] = 0

    assert evicted(run(world(others=[older]))) == []


def test_reason_names_taint_and_device() -> None:
    (move,) = run(world(taint())).moves

    assert move.reason == (f"its resource claim does not tolerate taint broken=yes:NoSchedule of device {GPU}/a/gpu-0")


@pytest.mark.parametrize(
    ("effect", "args", "number"),
    [
        pytest.param("NoSchedule", {}, 1, id="the effect that counts by default"),
        pytest.param("NoExecute", {}, 1, id="the effect for which kube-controller-manager deletes pods"),
        pytest.param("None", {}, 0, id="no effect"),
        pytest.param("NoSchedule", {"effects": ["NoExecute"]}, 0, id="another effect"),
    ],
)
def test_devices_are_counted_whose_taints_count(effect: str, args: dict[str, Any], number: int) -> None:
    (facts,) = run(world(taint(effect)), **args).facts.values()

    assert facts.counts["taintedDevices"] == number
    assert facts.why_nothing.startswith("no device has a taint that counts") == (not number)


def test_pods_of_other_namespaces_are_not_reported() -> None:
    decisions = run(world(taint("NoExecute")), namespaces={"exclude": ["default"]})

    (facts,) = decisions.facts.values()
    assert (facts.counts["podsLeftToNoExecute"], [*decisions.refusals]) == (0, [])


def test_pod_is_evicted_where_its_replacement_gets_another_device() -> None:
    """Its claim goes with it, so that the scheduler looks for devices anew and finds one without the taint."""
    assert evicted(run(templated(world(taint())), verifies=True)) == ["p"]


def test_pod_with_a_claim_of_its_own_name_is_not_evicted_where_the_replacement_can_take_the_claim_over() -> None:
    """The claim is allocated until the pod is gone, and a ReplicaSet makes the replacement as soon as it terminates."""
    decisions = run(world(taint()), verifies=True)

    (refusal,) = decisions.refusals
    assert (evicted(decisions), refusal.verdict.code) == ([], "SelectedAgain")
    assert refusal.verdict.message.endswith(
        f"taint broken=yes:NoSchedule of device {GPU}/a/gpu-0, and the replacement pod can take the claim over before"
        " the evicted pod is gone, and then gets this device on node a again"
    )


def test_pod_that_comes_once_its_predecessor_is_gone_gets_devices_anew() -> None:
    """A claim that nobody uses any more is freed; a pod of a StatefulSet waits for that, as it has the same name."""
    objects = world(taint())
    pod = next(each for each in objects if each["kind"] == "Pod" and each["metadata"]["name"] == "p")
    pod["metadata"]["ownerReferences"] = [owner("StatefulSet/web")]

    assert evicted(run(objects, verifies=True)) == ["p"]


def test_claim_of_a_template_that_others_use_is_not_that_of_the_replacement() -> None:
    objects = templated(world(taint(), consumers=["default-p", "default-q"]))
    objects.append(pod_object("q", spec={"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}))

    assert evicted(run(objects, verifies=True))[:1] == ["p"]


def test_pod_is_not_evicted_where_others_keep_the_claim() -> None:
    """The replacement would get the same device, and would be selected again."""
    objects = world(taint(), consumers=["default-p", "default-q"])
    objects.append(pod_object("q", spec={"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}))

    decisions = run(objects, verifies=True)

    assert evicted(decisions) == []
    assert {refusal.pod.name for refusal in decisions.refusals} == {"p", "q"}


def test_claim_of_another_namespace_is_not_that_of_the_pod() -> None:
    """Whatever UID it says that it is reserved for: pods use claims of their own namespace."""
    objects = world(taint())
    bound = next(each for each in objects if each["kind"] == "ResourceClaim")
    bound["metadata"]["namespace"] = "elsewhere"

    assert evicted(run(objects)) == []


def test_plugin_says_that_no_device_has_a_taint() -> None:
    (facts,) = run_plugin(PLUGIN, [make_node("a")], [make_pod("p")], args={"keys": ["broken"]}).facts.values()

    assert facts.why_nothing == "no device has a taint that counts (effects: NoSchedule; keys: broken)"


@pytest.mark.parametrize(
    ("taints", "tolerations", "args", "why"),
    [
        pytest.param(
            [],
            [],
            {},
            "none of its devices has a taint that counts (effects: NoSchedule)",
            id="taints of others",
        ),
        pytest.param(
            [taint(key="other")],
            [],
            {"keys": ["broken"]},
            "none of its devices has a taint that counts (effects: NoSchedule; keys: broken)",
            id="another key",
        ),
        pytest.param(
            [taint()],
            [{"operator": "Exists"}],
            {},
            "its resource claims tolerate the taints of their devices",
            id="tolerated",
        ),
    ],
)
def test_plugin_says_whether_a_taint_is_tolerated_or_there_is_none(
    taints: list[Object], tolerations: list[Object], args: Object, why: str
) -> None:
    others = [node_object("c"), slice_of("c", device("gpu-0", taints=[taint()]))]
    objects = world(*taints, tolerations=tolerations, others=others)

    decision = pod_explanation("p", objects, policy_of(policy_with(PLUGIN, args=args))).decision

    assert decision is not None
    assert [miss.message for miss in decision.not_selected] == [why]


def test_unknown_effect_is_refused() -> None:
    with pytest.raises(ValueError, match="effects"):
        load_policy(policy_with(PLUGIN, args={"effects": ["PreferNoSchedule"]}), REGISTRY)
