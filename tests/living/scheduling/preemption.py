"""Which pods of lower priority have to go so that a pod finds room, as kube-scheduler's DefaultPreemption chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.living.api.evictions import budgets_of
from tests.living.scheduling.filters import UNRESOLVABLE, obstacles
from tests.living.scheduling.rooms import NodeRoom
from tests.living.store import Object, Store


@dataclass(frozen=True, slots=True)
class Preemption:
    """The node, and who leaves it; `num_violations` counts the victims that a budget does not let go."""

    node: str
    victims: tuple[Object, ...]
    num_violations: int

    @property
    def cost(self) -> tuple[int, int, int, int, str]:
        """Less is better."""
        priorities = [priority_of(victim) for victim in self.victims]
        return self.num_violations, max(priorities), sum(priorities), len(priorities), self.node


def priority_of(pod: Object) -> int:
    """The pod's priority."""
    return int(pod["spec"].get("priority") or 0)


def may_preempt(pod: Object, rooms: Sequence[NodeRoom]) -> bool:
    """Whether the pod may have others deleted: by its policy, and unless it waits for some that end already."""
    if pod["spec"].get("preemptionPolicy") == "Never":
        return False
    nominated = pod["status"].get("nominatedNodeName")
    return not any(
        "deletionTimestamp" in other["metadata"] and priority_of(other) < priority_of(pod)
        for room in rooms
        if room.name == nominated
        for other in room.pods
    )


def preemption_for(store: Store, pod: Object, rooms: Sequence[NodeRoom]) -> Preemption | None:
    """The preemption that costs least, None when none helps."""
    found = [made for room in rooms if (made := _on_node(store, pod, room, rooms)) is not None]
    return min(found, key=lambda made: made.cost, default=None)


def _on_node(store: Store, pod: Object, room: NodeRoom, rooms: Sequence[NodeRoom]) -> Preemption | None:
    """The fewest victims on a node: all of lower priority go, and come back one by one where they still fit."""
    if any(text.startswith(UNRESOLVABLE) for text in obstacles(pod, room, rooms)):
        return None
    lower = [other for other in room.pods if priority_of(other) < priority_of(pod)]
    trial = room.without(lower)
    if not lower or obstacles(pod, trial, rooms):
        return None
    violating = _violating(store, lower)
    victims = []
    for other in sorted(lower, key=lambda other: (other["metadata"]["uid"] not in violating, -priority_of(other))):
        back = trial.with_pods([other])
        if obstacles(pod, back, rooms):
            victims.append(other)
        else:
            trial = back
    num_violations = sum(victim["metadata"]["uid"] in violating for victim in victims)
    return Preemption(room.name, tuple(victims), num_violations)


def _violating(store: Store, pods: Sequence[Object]) -> set[str]:
    """UIDs of the pods that a budget does not let go any more when all before them go."""
    left: dict[str, int] = {}
    found = set()
    for pod in pods:
        for budget in budgets_of(store, pod):
            uid = budget["metadata"]["uid"]
            left.setdefault(uid, (budget.get("status") or {}).get("disruptionsAllowed", 0))
            left[uid] -= 1
            if left[uid] < 0:
                found.add(pod["metadata"]["uid"])
    return found
