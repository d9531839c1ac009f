"""The GPUs of the openb sample as ResourceSlices: whole GPUs are found on the nodes where DeviceShare finds them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.scheduler import Scheduler
from tests.builders import Object, decode_pod, node_object
from tests.placement.plugins.device_share import worlds as shares
from tests.placement.plugins.device_share.openb import read_sample
from tests.placement.plugins.dynamic_resources import worlds as claims

NUM_NODES, NUM_PODS = 60, 80
SIZES = (1, 1, 1, 2, 4, 8)

Used = Mapping[str, Mapping[int, Mapping[str, Any]]]
"""Node → minor of each GPU → what a pod has of it; empty for a free GPU."""


def used_gpus() -> Used:
    """The GPUs of some nodes; of parts that several pods have of one the last counts, as no whole GPU is left there."""
    snapshot = read_sample()
    nodes = sorted(snapshot.devices)[:NUM_NODES]
    found: dict[str, dict[int, Mapping[str, Any]]] = {
        node: {each.minor: {} for each in snapshot.devices[node].devices} for node in nodes
    }
    for pod in snapshot.pods:
        allocated = json.loads(pod.annotations.get(shares.ALLOCATED, "{}"))
        for each in allocated.get("gpu", ()) if pod.node_name in found else ():
            found[pod.node_name][each["minor"]] = each["resources"]
    return found


def with_device_share(used: Used) -> Scheduler:
    objects = [shares.device_object(node, *map(shares.gpu, gpus)) for node, gpus in used.items()]
    for node, gpus in used.items():
        for minor, resources in gpus.items():
            if resources:
                has = {"gpu": [{"minor": minor, "resources": resources}]}
                objects.append(shares.gpu_pod(f"{node}-{minor}", {}, node=node, has=has))
    return shares.scheduler_over(*objects, nodes=used)


def with_claims(used: Used, sizes: list[int]) -> Scheduler:
    return claims.scheduler_of(*_with_claims(used), *(_wanted(place, size) for place, size in enumerate(sizes)))


def _with_claims(used: Used) -> Iterator[Object]:
    yield claims.device_class()
    for node, gpus in used.items():
        yield node_object(node)
        yield claims.slice_of(node, *(claims.device(f"gpu-{minor}") for minor in gpus))
        taken = [f"gpu-{minor}" for minor, resources in gpus.items() if resources]
        yield claims.claim(f"of-{node}", claims.request("r"), devices=taken, node=node, consumers=["x"])


def _wanted(place: int, size: int) -> Object:
    return claims.claim(f"c{place}", claims.request("r", count=size))


def share_of(place: int, size: int) -> Pod:
    return decode_pod(shares.gpu_pod(f"p{place}", {shares.CORE: str(100 * size), shares.RATIO: str(100 * size)}))


@pytest.mark.long
def test_whole_gpus_are_found_on_the_nodes_of_device_share_pod_after_pod() -> None:
    drawn, used = random.Random(1), used_gpus()
    sizes = [drawn.choice(SIZES) for _ in range(NUM_PODS)]
    by_share, by_claim = with_device_share(used), with_claims(used, sizes)
    num_nowhere = 0

    for place, size in enumerate(sizes):
        of_share = by_share.evaluate(share_of(place, size))
        of_claim = by_claim.evaluate(claims.claiming(f"p{place}", f"c{place}"))

        assert names(by_claim, of_claim.nodes) == names(by_share, of_share.nodes)
        num_nowhere += not of_claim.fits
        if of_claim.fits:
            node = drawn.choice(names(by_claim, of_claim.nodes))
            for scheduler, evaluation in ((by_share, of_share), (by_claim, of_claim)):
                put_on_node(evaluation, scheduler.cluster.table.index[node])
    assert 0 < num_nowhere < NUM_PODS


def names(scheduler: Scheduler, nodes: np.ndarray[Any, Any]) -> list[str]:
    return sorted(scheduler.cluster.table.names[node] for node in nodes.tolist())
