"""`python -m tests.placement.plugins.reservation.random_patches --worlds N`: annotations say all that pods were given.

Pods are placed one after another on nodes with GPUs, some of which Reservations hold. Then the cluster is read again
with these pods on their nodes and with the annotations of their patches: it is the same cluster, to the digest and to
the answers about further pods.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from random import Random

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.plugins.device_share.filter import UnnamedDevices
from tests.builders import Object
from tests.placement.plugins.reservation.test_devices import allocated, gpu_node, gpu_pod
from tests.placement.plugins.reservation.worlds import World, koord_pod, reservation_object

_APPS = ("a", "b")
_NAMES = ("n0", "n1")
_AFFINITY = {"scheduling.koordinator.sh/reservation-affinity": "{}"}
_SHARES = (30, 50, 100)


def check_world(seed: int) -> int:
    """Asserts the law in the world of `seed`; returns how many pods were placed."""
    draw = Random(seed)
    objects = [each for name in _NAMES for each in gpu_node(3, name)]
    objects += [_reservation(draw, name, minor) for name in _NAMES for minor in range(2) if draw.random() < 0.6]
    pods = [_pod(draw, index) for index in range(draw.randint(1, 5))]
    probes = [gpu_pod(f"probe-{app}-{share}", share, app=app) for app in _APPS for share in (50, 200)]
    world = World([*objects, *pods, *probes])
    world.cluster.follow(UnnamedDevices)
    bound = [_placed(world, each, draw) for each in pods]
    again = World([*objects, *bound, *probes])
    again.cluster.follow(UnnamedDevices)  # which is made for pods that are bound
    found = [_answers(each, probes) for each in (world, again)]
    assert found[0] == found[1], "further pods are answered otherwise"
    assert world.cluster.digest() == again.cluster.digest(), "the cluster is another one"
    return sum(bool(each["spec"].get("nodeName")) for each in bound)


def _reservation(draw: Random, node: str, minor: int) -> Object:
    share = draw.choice(_SHARES)
    amounts = {"koordinator.sh/gpu-core": str(share), "koordinator.sh/gpu-memory-ratio": str(share)}
    has_devices = draw.random() < 0.8
    return reservation_object(
        f"r-{node}-{minor}",
        node=node,
        app=draw.choice(_APPS),
        reserved={"cpu": str(draw.randint(1, 4)), **(amounts if has_devices else {})},
        annotations=allocated(**{f"m{minor}": share}) if has_devices else {},
        allocateOnce=draw.random() < 0.5,
        allocatePolicy=draw.choice(("Aligned", "Restricted")),
    )


def _pod(draw: Random, index: int) -> Object:
    facts: dict[str, object] = {
        "app": draw.choice(_APPS),
        "annotations": dict(_AFFINITY) if draw.random() < 0.2 else {},
        "labels": {"scheduling.koordinator.sh/reservation-ignored": "true"} if draw.random() < 0.1 else {},
    }
    if draw.random() < 0.2:
        return koord_pod(f"p{index}", cpu=str(draw.randint(1, 3)), **facts)  # type: ignore[arg-type]
    return gpu_pod(f"p{index}", draw.choice((*_SHARES, 200)), **facts)


def _placed(world: World, pod: Object, draw: Random) -> Object:
    """The pod as its scheduler leaves it: bound, with what it was given in annotations; or as it was."""
    evaluation = world.evaluate(pod["metadata"]["name"])
    if not evaluation.fits:
        return pod
    node = draw.choice(evaluation.nodes.tolist())
    patch = put_on_node(evaluation, node).placed.patch
    bound = copy.deepcopy(pod)
    bound["metadata"]["annotations"] = {**bound["metadata"].get("annotations", {}), **patch}
    bound["spec"]["nodeName"] = world.cluster.table.names[node]
    bound["status"]["phase"] = "Running"
    return bound


def _answers(world: World, probes: Sequence[Object]) -> object:
    pods: list[Pod] = [world.pods[each["metadata"]["name"]] for each in probes]
    found = [world.evaluate(pod) for pod in pods]
    conditions = [world.scheduler.conditions(each.cycle, node) for each in found for node in each.nodes.tolist()]
    return [(each.nodes.tolist(), each.choose()) for each in found], conditions


def main() -> None:
    """Checks so many worlds and prints how many pods were placed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    placed = sum(check_world(options.seed + number) for number in range(options.worlds))
    print(f"{options.worlds} worlds, {placed} pods placed and read back, 0 broken")


if __name__ == "__main__":
    main()
