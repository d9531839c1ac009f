"""Devices of large clusters: what a node costs does not grow with the number of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.builders import Object, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    claim,
    claiming,
    device,
    device_class,
    evaluate,
    request,
    scheduler_of,
    slice_of,
)
from tests.work_counts import num_calls


def own_pools(number: int) -> list[Object]:
    return [slice_of(f"n{place}", device("d")) for place in range(number)]


def one_pool(number: int) -> list[Object]:
    """Of all nodes, with a slice for each."""
    slices = [slice_of(f"n{place}", device(f"d{place}"), pool="all", name=f"s{place}") for place in range(number)]
    for each in slices:
        each["spec"]["pool"]["resourceSliceCount"] = number
    return slices


def tainted_by_rules(number: int) -> list[Object]:
    """Each device by a rule of its own."""
    rules = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceTaintRule",
            "metadata": {"name": f"r{place}"},
            "spec": {
                "deviceSelector": {"driver": GPU, "pool": f"n{place}"},
                "taint": {"key": "k", "effect": "NoSchedule"},
            },
        }
        for place in range(number)
    ]
    return [*own_pools(number), *rules]


def selected_by_labels(number: int) -> list[Object]:
    """A slice for the nodes of each rack."""
    return [
        slice_of("", device("d"), pool=f"rack-{place}", nodeSelector=terms("rack", f"r{place}"))
        for place in range(number)
    ]


def terms(key: str, value: str) -> Object:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}


def nodes(number: int) -> list[Object]:
    return [node_object(f"n{place}", labels={"rack": f"r{place}"}) for place in range(number)]


@pytest.mark.parametrize("devices", [own_pools, one_pool, tainted_by_rules, selected_by_labels])
def test_first_pod_costs_as_much_a_node_in_larger_clusters(devices: Callable[[int], Sequence[Object]]) -> None:
    def work(number: int) -> int:
        scheduler = scheduler_of(*nodes(number), device_class(), claim("c", request("r")), *devices(number))
        return num_calls(lambda: evaluate(scheduler, claiming("p", "c")))

    assert work(200) < 2.5 * work(100)


@pytest.mark.parametrize("devices", [own_pools, one_pool])
def test_devices_of_another_node_come_into_use_without_another_search(
    devices: Callable[[int], Sequence[Object]],
) -> None:
    """But for the node on which they are."""

    def work(number: int) -> int:
        claims = [claim(name, request("r")) for name in "cde"]
        scheduler = scheduler_of(*nodes(number), device_class(), *claims, *devices(number))
        for node, name in enumerate("cd"):
            scheduler.place(evaluate(scheduler, claiming(f"of-{name}", name)), node)
        return num_calls(lambda: evaluate(scheduler, claiming("p", "e")))

    assert work(400) < 1.5 * work(200)


def test_nodes_that_see_the_same_devices_are_searched_once() -> None:
    def work(number: int) -> int:
        fabric = slice_of("", *(device(f"d{place}") for place in range(50)), pool="fabric", allNodes=True)
        used = claim("used", request("r", count=40), devices=[f"d{place}" for place in range(40)], node="fabric")
        scheduler = scheduler_of(*nodes(number), device_class(), claim("c", request("r")), used, fabric)
        return num_calls(lambda: evaluate(scheduler, claiming("p", "c")))

    assert work(200) - work(100) < 100 * 50
