"""Which devices a node has, and why they do not do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descheduler.model.koordinator.devices import DEVICE_TYPES, GPU, Amounts
from descheduler.model.text.amounts import amount_text
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.device_share.allocation import DeviceAllocator
from descheduler.placement.plugins.device_share.device_ledger import NAME, DeviceLedger
from descheduler.placement.plugins.device_share.devices.device_state import DeviceState, fits, is_zero
from descheduler.placement.plugins.device_share.devices.hardware import ISOLATION_LABEL
from descheduler.placement.plugins.device_share.pod_devices import PodDevices
from descheduler.placement.plugins.device_share.pod_on_nodes import PodOnNodes
from descheduler.placement.plugins.device_share.reasons import DeviceReason

__all__ = ["explain_devices"]


def explain_devices(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What the pod asks of each device, and what is left of those of the node."""
    found = refused.cycle.scratch.get(NAME)
    if not isinstance(found, PodOnNodes):
        return
    state = refused.cycle.cluster.ledger(DeviceLedger).cache.state(refused.node_index)
    if DeviceReason.ISOLATION in obstacle.facts:
        yield (
            f"the pod is labelled {ISOLATION_LABEL}={found.answers.pod.isolation_provider}, and the node "
            f"{state.hardware.traits.isolation_provider or 'has no such label'}"
        )
        return
    yield from _devices(found.answers.pod, state)
    if DeviceReason.INSUFFICIENT_PARTITIONS in obstacle.facts or DeviceReason.UNSUPPORTED_NUMBER in obstacle.facts:
        yield from _partitions(state)


def _devices(pod: PodDevices, state: DeviceState) -> Iterator[str]:
    instances = DeviceAllocator(pod, state).instances
    for device_type in DEVICE_TYPES:
        if device_type not in pod.requests:
            continue
        total = state.total.get(device_type)
        if not total:
            yield f"the node has no {device_type} devices"
        elif not isinstance(instances, DeviceReason) and device_type in instances:
            yield _device_sentence(device_type, *instances[device_type], state)


def _device_sentence(device_type: str, each: Amounts, number: int, state: DeviceState) -> str:
    total, free = state.total[device_type], state.free[device_type]
    healthy = [minor for minor in total if not is_zero(total[minor])]
    open_minors = [minor for minor in healthy if fits(each, free[minor])]
    asked = f"{number} {device_type} device{'' if number == 1 else 's'} with {_amounts(each)} each"
    by_amounts: dict[str, list[int]] = {}
    for minor in sorted(healthy):
        by_amounts.setdefault(_amounts({name: free[minor].get(name, 0) for name in each}), []).append(minor)
    left = " and ".join(f"{amounts} on {_minors(minors)}" for amounts, minors in by_amounts.items()) or "nothing"
    sick = f", {len(total) - len(healthy)} unhealthy" if len(healthy) < len(total) else ""
    return f"requests {asked}; {len(open_minors)} of {len(total)} have as much left{sick}; free: {left}"


def _partitions(state: DeviceState) -> Iterator[str]:
    table = state.hardware.partitions or {}
    in_use = sorted(state.used.get(GPU, {}))
    yield f"the node gives out {', '.join(map(str, sorted(table))) or 'no'} GPUs together; in use: {_minors(in_use)}"


def _minors(minors: list[int]) -> str:
    return ", ".join(map(str, minors)) or "none"


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.rpartition('/')[2]} {amount_text(name, amount)}" for name, amount in amounts.items())
