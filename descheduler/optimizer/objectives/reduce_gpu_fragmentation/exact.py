"""FGD's fragmentation stated for the solver: exact, and only of use for small clusters with few classes."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objective import Model
from descheduler.optimizer.problem import Problem

__all__ = ["state_fragments"]


def state_fragments(
    model: Model, problem: Problem, resource: int, devices: Sequence[int], need: Ints, num_devices: int, weight: int
) -> None:
    """Minimises `weight` times what one class strands on one machine, whose devices are those nodes.

    An idle device counts unless it is used, for which the class must run on the machine and find room on the device.
    """
    on_device = [int(amount) if index == resource else 0 for index, amount in enumerate(need)]
    runs = model.new_bool()
    model.require([model.has_room(problem.parts_at(node), need.tolist()) for node in devices], num_devices, runs)
    for node in devices:
        part = _device(problem, node, resource)
        is_used = model.new_bool()
        model.require([runs], 1, is_used)
        model.require([model.has_room([part], on_device)], 1, is_used)
        model.minimise([weight], [model.free_unless(part, resource, is_used)])


def _device(problem: Problem, node: int, resource: int) -> int:
    """The one part of the node that has an own capacity of the resource."""
    return min(problem.parts_at(node), key=lambda part: int(problem.part_capacity[part, resource]))
