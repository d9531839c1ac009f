"""Devices and claims drawn at random, and a brute force that says what a claim gets of the devices of one node."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from tests.builders import Object
from tests.placement.plugins.dynamic_resources.worlds import GPU, claim, device, request, slice_of

__all__ = ["Ask", "Dev", "Held", "Want", "drawn_devices", "drawn_want", "slices"]

COUNTERS, CAPACITY = 4, 10
"""What a pool has of its counter, and a shared device of its capacity."""
MODEL_A = f"has(device.attributes['{GPU}'].model) && device.attributes['{GPU}'].model == 'A'"
TAINT = {"key": "sick", "effect": "NoSchedule"}


class Dev(NamedTuple):
    """A device: `counters` is what it consumes of its pool's; several pods may have a shared one."""

    name: str
    model: str
    counters: int
    is_shared: bool
    is_tainted: bool

    def as_object(self) -> Object:
        fields: Object = {"taints": [TAINT]} if self.is_tainted else {}
        if self.counters:
            consumes = {"counterSet": "card", "counters": {"parts": {"value": str(self.counters)}}}
            fields["consumesCounters"] = [consumes]
        if self.is_shared:
            fields |= {"allowMultipleAllocations": True, "capacity": {"lanes": {"value": str(CAPACITY)}}}
        return device(self.name, {"model": self.model} if self.model else None, **fields)


class Ask(NamedTuple):
    """A request: `lanes` of a shared device, or 0 for none in particular."""

    number: int
    wants_a: bool
    tolerates: bool
    lanes: int

    def as_object(self, name: str) -> Object:
        fields: Object = {"tolerations": [{"operator": "Exists"}]} if self.tolerates else {}
        fields |= {"capacity": {"requests": {"lanes": str(self.lanes)}}} if self.lanes else {}
        return request(name, *([MODEL_A] if self.wants_a else []), count=self.number, **fields)

    def suits(self, each: Dev) -> bool:
        """Whether the device does, whatever else is taken."""
        return (
            (each.model == "A" or not self.wants_a)
            and (self.tolerates or not each.is_tainted)
            and (each.is_shared or not self.lanes)
        )

    def consumed(self, each: Dev) -> int:
        """What is consumed of a shared device."""
        return (self.lanes or CAPACITY) if each.is_shared else 0


class Held:
    """What pods have of one node's devices."""

    def __init__(self) -> None:
        self.whole: Counter[str] = Counter()
        self.lanes: Counter[str] = Counter()
        self.counters = 0

    def takes(self, taken: Iterable[tuple[Ask, Dev]]) -> bool:
        """Whether all of that fits beside what is held."""
        whole, lanes, counters = self.whole.copy(), self.lanes.copy(), self.counters
        for asked, each in taken:
            counters += each.counters
            if each.is_shared:
                lanes[each.name] += asked.consumed(each)
            else:
                whole[each.name] += 1
        most_taken, most_lanes = max(whole.values(), default=0), max(lanes.values(), default=0)
        return counters <= COUNTERS and most_taken <= 1 and most_lanes <= CAPACITY

    def hold(self, taken: Iterable[tuple[Ask, Dev]], sign: int = 1) -> None:
        for asked, each in taken:
            self.counters += sign * each.counters
            if each.is_shared:
                self.lanes[each.name] += sign * asked.consumed(each)
            else:
                self.whole[each.name] += sign


class Want(NamedTuple):
    """A claim."""

    requests: Sequence[Ask]
    is_of_one_model: bool

    def as_object(self, name: str) -> Object:
        constraints = [{"matchAttribute": f"{GPU}/model"}] if self.is_of_one_model else []
        requests = (asked.as_object(f"r{place}") for place, asked in enumerate(self.requests))
        return claim(name, *requests, constraints=constraints)

    def first(self, devices: Sequence[Dev], held: Held) -> list[tuple[Ask, Dev]] | None:
        """The first way to get all of it, in the order of requests and devices; None for no way."""
        for chosen in product(*(combinations(devices, asked.number) for asked in self.requests)):
            taken = [(asked, each) for asked, some in zip(self.requests, chosen, strict=True) for each in some]
            models = {each.model for _, each in taken}
            is_of_one = not self.is_of_one_model or (len(models) == 1 and "" not in models)
            if is_of_one and all(asked.suits(each) for asked, each in taken) and held.takes(taken):
                return taken
        return None


def drawn_devices(drawn: random.Random) -> list[Dev]:
    return [
        Dev(
            f"d{place}",
            drawn.choice(["A", "A", "B", ""]),
            0 if is_shared else drawn.choice([0, 0, 1, 2, 4]),
            is_shared,
            drawn.random() < 0.2,
        )
        for place, is_shared in enumerate(drawn.random() < 0.25 for _ in range(drawn.randint(2, 5)))
    ]


def drawn_want(drawn: random.Random) -> Want:
    requests = [
        Ask(
            drawn.choice([1, 1, 2]),
            drawn.random() < 0.4,
            drawn.random() < 0.5,
            drawn.choice([0, 0, 0, 3, 6]),
        )
        for _ in range(drawn.choice([1, 1, 2]))
    ]
    return Want(requests, drawn.random() < 0.3)


def slices(node: str, devices: Sequence[Dev]) -> Iterator[Object]:
    """The pool of a node: its devices, and the counter that they share."""
    counters = [{"name": "card", "counters": {"parts": {"value": str(COUNTERS)}}}]
    pieces = [
        slice_of(node, *(each.as_object() for each in devices)),
        slice_of(node, name="c", sharedCounters=counters),
    ]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
        piece["metadata"]["name"] += f"-{node}"
        yield piece
