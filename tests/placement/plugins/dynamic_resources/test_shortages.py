"""Why the devices of a node do not do for a claim, by the rules of the scheduler's release."""

from __future__ import annotations

from descheduler.model.kube_version import KubeVersion
from tests.builders import node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    claim,
    claiming,
    device,
    device_class,
    evaluate,
    on_nodes,
    request,
    scheduler_of,
    slice_of,
)


def test_share_that_is_charged_again_lacks_counters() -> None:
    """kube-scheduler 1.36 charges counters again for a device whose share states no amounts."""
    uses = [{"counterSet": "card", "counters": {"parts": {"value": "1"}}}]
    counters = [{"name": "card", "counters": {"parts": {"value": "1"}}}]
    shared = device("x", consumesCounters=uses, allowMultipleAllocations=True)
    pieces = [slice_of("a", shared), slice_of("a", name="counters", sharedCounters=counters)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    old = claim("old", request("r"), devices=["x"])
    old["status"]["allocation"]["devices"]["results"][0]["shareID"] = "0"
    world = node_object("a"), device_class(), *pieces, old, claim("c", request("r"))
    scheduler = scheduler_of(*world, version=KubeVersion(1, 36))

    sentences = [*on_nodes(evaluate(scheduler, claiming("new", "c"))).why_not(0)]

    lacks = "1 device: 1 needs more of shared counters than is left"
    assert sentences == [f"resource claim c, request r (count: 1): {lacks}"]


def test_selector_that_a_device_fails_is_counted_among_those_of_its_own_place() -> None:
    """The class has two selectors and the request two: the second of either is the one that fails."""

    def sentences(of_class: str, of_request: str) -> list[str]:
        world = node_object("a"), device_class("gpu", "true", of_class), slice_of("a", device("x"))
        scheduler = scheduler_of(*world, claim("c", request("r", "true", of_request)))
        return [*on_nodes(evaluate(scheduler, claiming("new", "c"))).why_not(0)]

    said = "resource claim c, request r (count: 1): 1 device: 1 fails"
    assert sentences("true", "1 > 2") == [f"{said} selector 2 (1 > 2)"]
    assert sentences("1 > 2", "true") == [f"{said} selector 2 of DeviceClass gpu (1 > 2)"]
