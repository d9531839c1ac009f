"""Random worlds of devices, in which laws are checked: `python -m tests.placement.plugins.device_share.random_devices`.

The laws: placements bear on each other as the plugin declares; no device gives out more than it has, but for memory
that was asked for in percent, which Koordinator rounds down, so that a pod may get a little more than there is;
whatever order devices are given back in, nothing is left in use; Filter passes a node exactly when some choice of
minors does, where the rules are plain.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from itertools import combinations

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.device_share.args import DeviceShareArgs
from descheduler.placement.plugins.device_share.device_state import DeviceCache, DeviceState, fits, is_zero
from descheduler.placement.plugins.device_share.pod_devices import PodDevices, devices_of
from descheduler.placement.plugins.device_share.requests import RequestError
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Placed
from tests.builders import Object, node_object
from tests.placement.plugins.device_share.worlds import (
    CORE,
    MEMORY,
    RATIO,
    decoded,
    device,
    device_object,
    gpu,
    gpu_pod,
    rdma,
    scheduler_over,
)

_TYPES = ("gpu", "rdma", "fpga")
_ROUNDED = 0.1
"""Of ten pods on a card each may have its percent of memory cut."""
_TABLE = {
    "1": [{"minors": [minor], "allocationScore": 1} for minor in range(4)],
    "2": [{"minors": [0, 1], "allocationScore": 2}, {"minors": [2, 3], "allocationScore": 1}],
    "4": [{"minors": [0, 1, 2, 3], "allocationScore": 1}],
}


def faults(seed: int) -> Iterator[str]:
    """The laws that are broken in the world of `seed`, each a sentence."""
    rng = random.Random(seed)
    is_plain = rng.random() < 0.5
    scheduler = _scheduler(rng, is_plain=is_plain)
    cluster = scheduler.cluster
    before = cluster.digest()
    placed: list[Placed] = []
    for number in range(rng.randint(3, 14)):
        if placed and rng.random() < 0.25:
            cluster.take_off(placed.pop(rng.randrange(len(placed))))
            continue
        pod = _pod(rng, f"p{number}", is_plain=is_plain)
        evaluation = scheduler.evaluate(decoded(pod))
        if is_plain:
            yield from _differences(evaluation, cluster.follow(DeviceCache))
        if evaluation.fits:
            at = cluster.digest()
            with cluster.what_if():
                scheduler.place(evaluation, int(rng.choice(evaluation.nodes)))
            if cluster.digest() != at:
                yield f"a what-if leaves a trace after pod {number}"
            node, other = int(rng.choice(evaluation.nodes)), decoded(_pod(rng, "other", is_plain=is_plain))
            alone = scheduler.evaluate(other).feasible
            placed.append(scheduler.place(evaluation, node))
            yield from _undeclared(scheduler, other, node, alone)
            is_joint = "joint" in str(pod["metadata"].get("annotations"))
            if evaluation.cycle.notes and not is_joint:
                yield f"Reserve fails for pod {number} after Filter has passed: {evaluation.cycle.notes}"
        yield from _overuse(cluster.follow(DeviceCache))
    rng.shuffle(placed)
    for each in placed:
        cluster.take_off(each)
    if cluster.digest() != before:
        yield "devices are in use after all were given back"


def _scheduler(rng: random.Random, *, is_plain: bool) -> Scheduler:
    names = [f"n{index}" for index in range(rng.randint(1, 3))]
    objects: list[Object] = []
    for name in names:
        memory = rng.choice((80 * 2**30, 24 * 2**30, 85198045184))
        if rng.random() < 0.9:
            labels = {"node.koordinator.sh/secondary-device-well-planned": "true"} if rng.random() < 0.2 else {}
            table = _TABLE if not is_plain and rng.random() < 0.4 else None
            objects.append(
                device_object(name, *_devices(rng, memory, is_plain=is_plain), labels=labels, partitions=table)
            )
        if rng.random() < 0.5:
            share = str(rng.choice((20, 50, 100)))
            amounts = {CORE: share, RATIO: share, MEMORY: str(int(share) * memory // 100)}
            has = {"gpu": [{"minor": rng.randrange(3), "resources": amounts}]}
            objects.append(gpu_pod(f"runs-on-{name}", {CORE: share, RATIO: share}, node=name, has=has))
    models = (None, "H100", "T4")
    nodes = [
        node_object(name, labels={} if is_plain else {"node.koordinator.sh/gpu-model": rng.choice(models) or "none"})
        for name in names
    ]
    args = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": RATIO, "weight": 1}]}}
    return scheduler_over(*objects, nodes=nodes, args=args if rng.random() < 0.3 else None)


def _devices(rng: random.Random, memory: int, *, is_plain: bool) -> Iterator[Object]:
    has_places = not is_plain and rng.random() < 0.6
    for minor in range(rng.randint(0, 5)):
        place = (minor // 2, str(minor // 2)) if has_places else None
        healthy = rng.random() < 0.9
        yield gpu(minor, memory=str(memory), place=place, healthy=healthy, labels={"zone": rng.choice("ab")})
    for minor in range(rng.randint(0, 3)):
        functions = [f"0000:0{minor}.{n}" for n in range(rng.randint(0, 3))]
        yield rdma(minor, functions=functions, place=(minor, str(minor)), labels={"zone": rng.choice("ab")})
    for minor in range(rng.randint(0, 2)):
        yield device("fpga", minor, resources={"koordinator.sh/fpga": "100"})


_REQUESTS = (
    {CORE: "50", RATIO: "50"},
    {CORE: "30", RATIO: "60"},
    {CORE: "200", RATIO: "200"},
    {RATIO: "25"},
    {MEMORY: "8Gi"},
    {CORE: "50", MEMORY: "40Gi"},
    {"nvidia.com/gpu": "1"},
    {"nvidia.com/gpu": "2"},
    {"nvidia.com/gpu": "4"},
    {"koordinator.sh/gpu": "150"},
    {"koordinator.sh/gpu.shared": "2", CORE: "100", RATIO: "100"},
    {"koordinator.sh/gpu.shared": "2", MEMORY: "16Gi"},
    {"koordinator.sh/rdma": "50"},
    {"koordinator.sh/rdma": "200"},
    {"koordinator.sh/fpga": "100"},
    {"nvidia.com/gpu": "1", "koordinator.sh/rdma": "1"},
    {"nvidia.com/gpu": "2", "koordinator.sh/rdma": "100", "koordinator.sh/fpga": "50"},
)


def _pod(rng: random.Random, name: str, *, is_plain: bool) -> Object:
    facts: Object = {}
    hint: Object = {}
    if rng.random() < 0.4:
        selector: Object = rng.choice(({"vfSelector": {}}, {"selector": {"matchLabels": {"zone": "a"}}}))
        hint["rdma"] = {**selector, **rng.choice(({}, {"allocateStrategy": "RequestsAsCount"}))}
    if rng.random() < 0.2:
        hint["rdma"] = {"allocateStrategy": "ApplyForAll"}
    if not is_plain and rng.random() < 0.3:
        hint["gpu"] = {"requiredTopologyScope": rng.choice(("PCIe", "NUMANode", "Node"))}
    if hint:
        facts["hint"] = hint
    if not is_plain and rng.random() < 0.4:
        facts["joint"] = {"deviceTypes": ["gpu", "rdma"], **rng.choice(({}, {"requiredScope": "SamePCIe"}))}
    if not is_plain and rng.random() < 0.2:
        facts["partition"] = {"allocatePolicy": rng.choice(("BestEffort", "Restricted"))}
    return gpu_pod(name, rng.choice(_REQUESTS), **facts)


def _undeclared(scheduler: Scheduler, pod: Pod, node: int, before: BoolMask) -> Iterator[str]:
    """Where a placement on `node` bears on `pod`, which found the nodes `before`, as interactions do not say."""
    after = scheduler.evaluate(pod).feasible
    changed = {int(each) for each in (before != after).nonzero()[0]}
    if changed - {node}:
        yield f"a placement on {node} is felt on {sorted(changed)}"
    if not before[node] and after[node] and not scheduler.can_be_helped(pod):
        yield f"a placement on {node} helps {pod.spec.requests}"


def _overuse(cache: DeviceCache) -> Iterator[str]:
    for node, state in enumerate(cache.ids):
        for device_type, by_minor in cache.states[state].used.items():
            total = cache.states[state].total[device_type]
            for minor, used in by_minor.items():
                for resource, amount in used.items():
                    whole = total[minor].get(resource, amount)
                    if amount > whole + (_ROUNDED * whole if resource == MEMORY else 0):
                        yield f"{device_type} {minor} of node {node} gives out {amount} of {resource}"


def _differences(evaluation: PodEvaluation, cache: DeviceCache) -> Iterator[str]:
    """Where Filter and brute force do not agree."""
    try:
        pod = devices_of(evaluation.cycle.pod.pod, DeviceShareArgs())
    except RequestError:
        pod = None
    for node, state in enumerate(cache.ids):
        can = pod is not None and _can_get(pod, cache.states[state])
        if can != bool(evaluation.feasible[node]):
            yield f"node {node}: Filter says {evaluation.feasible[node]}, brute force {can}, for {pod}"


def _can_get(pod: PodDevices, state: DeviceState) -> bool:
    """Whether some choice of minors does, of every type for itself."""
    if not state.hardware.is_listed:
        return True
    return all(_can_get_type(pod, device_type, state) for device_type in _TYPES if device_type in pod.requests)


def _can_get_type(pod: PodDevices, device_type: str, state: DeviceState) -> bool:
    each, number = _wanted(pod, device_type, state)
    total, free, hint = state.total.get(device_type, {}), state.free.get(device_type, {}), pod.hint(device_type)
    infos = {info.minor: info for info in state.hardware.infos.get(device_type, ())}

    def takes(minor: int) -> bool:
        info = infos.get(minor)
        if info is None or not info.is_healthy or is_zero(free[minor]) or not fits(each, free[minor]):
            return False
        if hint.selector is not None and not hint.selector.matches(info.labels):
            return False
        functions = {function.bus_id for group in info.function_groups for function in group.functions}
        taken = {bus_id for kind, at, bus_id in state.functions if (kind, at) == (device_type, minor)}
        return hint.function_selector is None or bool(functions - taken)

    return number > 0 and any(all(map(takes, chosen)) for chosen in combinations(total, number))


def _wanted(pod: PodDevices, device_type: str, state: DeviceState) -> tuple[dict[str, int], int]:
    if device_type == "gpu" and pod.gpu is not None:
        return dict(pod.gpu.each), pod.gpu.number
    ((name, amount),) = pod.requests[device_type].items()
    hint = pod.hint(device_type)
    if amount > 100:
        return {name: 100}, amount // 100
    if hint.applies_for_all:
        return {name: amount}, len(state.total.get(device_type, {}))
    return ({name: 1}, amount) if hint.allocate_strategy else ({name: amount}, 1)


def main() -> int:
    """Checks as many worlds as asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first world")
    options = parser.parse_args()
    num_faults = 0
    for seed in range(options.first, options.first + options.worlds):
        for fault in faults(seed):
            num_faults += 1
            print(f"world {seed}: {fault}")
    print(f"{options.worlds:,} worlds, {num_faults} faults")
    return 1 if num_faults else 0


if __name__ == "__main__":
    sys.exit(main())
