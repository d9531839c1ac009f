"""Pods on devices with taints, and runs of RemovePodsViolatingDeviceTaints over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, node_object, pod_object
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    claim,
    device,
    device_class,
    request,
    slice_of,
)
from tests.strategies.runs import policy_with

PLUGIN = "RemovePodsViolatingDeviceTaints"
BROKEN = {"key": "broken", "value": "yes", "effect": "NoSchedule"}


def taint(effect: str = "NoSchedule", **fields: str) -> Object:
    return {**BROKEN, "effect": effect, **fields}


def world(
    *taints: Object, tolerations: Sequence[Object] = (), consumers: Sequence[str] = ("default-p",), others: Any = ()
) -> list[Object]:
    """Pod `p` on node `a` with the first of two GPUs, which has these taints, and node `b` with two more."""
    bound = claim("c", request("r"), devices=["gpu-0"], consumers=consumers)
    if tolerations:
        bound["status"]["allocation"]["devices"]["results"][0]["tolerations"] = [*tolerations]
    references = [{"name": "c", "resourceClaimName": "c"}]
    return [
        node_object("a"),
        node_object("b"),
        device_class(),
        slice_of("a", device("gpu-0", taints=[*taints]), device("gpu-1")),
        slice_of("b", device("gpu-0"), device("gpu-1")),
        bound,
        pod_object("p", spec={"resourceClaims": references}),
        pod_object("without"),
        *others,
        *NO_DEVICE_OBJECTS,
    ]


def run(objects: Sequence[Object], *, verifies: bool | Object = False, **args: Any) -> Decisions:
    """What the plugin decides over these objects, with PlacementVerification where it `verifies`, or its arguments."""
    document = policy_with(PLUGIN, args=args)
    if verifies:
        verification = {"name": "PlacementVerification", "args": {} if verifies is True else verifies}
        document["profiles"][0]["pluginConfig"].append(verification)
        document["profiles"][0]["plugins"]["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    return decide(load_policy(document, REGISTRY), snapshot_from_objects(objects), now=NOW)
