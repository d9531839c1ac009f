"""Devices and claims drawn at random, and a brute force that says what a claim gets of the devices of one node."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from tests.builders import Object
from tests.placement.plugins.dynamic_resources.worlds import GPU, any_of, claim, device, request, slice_of

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


class Taken(NamedTuple):
    """A device for a request, as the result of an allocation names it."""

    request: str
    asked: Ask
    device: Dev


class Held:
    """What pods have of one node's devices."""

    def __init__(self) -> None:
        self.whole: Counter[str] = Counter()
        self.lanes: Counter[str] = Counter()
        self.counters = 0

    def takes(self, taken: Iterable[Taken]) -> bool:
        """Whether all of that fits beside what is held."""
        whole, lanes, counters = self.whole.copy(), self.lanes.copy(), self.counters
        for _, asked, each in taken:
            counters += each.counters
            if each.is_shared:
                lanes[each.name] += asked.consumed(each)
            else:
                whole[each.name] += 1
        most_taken, most_lanes = max(whole.values(), default=0), max(lanes.values(), default=0)
        return counters <= COUNTERS and most_taken <= 1 and most_lanes <= CAPACITY

    def hold(self, taken: Iterable[Taken], sign: int = 1) -> None:
        for _, asked, each in taken:
            self.counters += sign * each.counters
            if each.is_shared:
                self.lanes[each.name] += sign * asked.consumed(each)
            else:
                self.whole[each.name] += sign


class Want(NamedTuple):
    """A claim: for each request its alternatives, which are mostly one; `rule` is a constraint on the models."""

    requests: Sequence[Sequence[Ask]]
    rule: str

    def as_object(self, name: str) -> Object:
        constraints = [{self.rule: f"{GPU}/model"}] if self.rule else []
        requests = (_request(f"r{place}", choices) for place, choices in enumerate(self.requests))
        return claim(name, *requests, constraints=constraints)

    def first(self, devices: Sequence[Dev], held: Held) -> list[Taken] | None:
        """The first way to get all of it, in the order of requests, alternatives and devices; None for no way."""
        return self._from([], 0, devices, held)

    def _from(self, taken: list[Taken], place: int, devices: Sequence[Dev], held: Held) -> list[Taken] | None:
        if place == len(self.requests):
            return taken if self._is_met_by(taken) and held.takes(taken) else None
        choices = self.requests[place]
        for number, asked in enumerate(choices):
            name = f"r{place}" if len(choices) == 1 else f"r{place}/{number}"
            for some in combinations(devices, asked.number):
                tried = [*taken, *(Taken(name, asked, each) for each in some)]
                found = self._from(tried, place + 1, devices, held)
                if found is not None:
                    return found
        return None

    def _is_met_by(self, taken: Sequence[Taken]) -> bool:
        """Whether each device suits its request, and all of them the rule."""
        models = [each.device.model for each in taken]
        number = 1 if self.rule == "matchAttribute" else len(models)
        is_met = not self.rule or ("" not in models and len({*models}) == number)
        return is_met and all(each.asked.suits(each.device) for each in taken)


def _request(name: str, choices: Sequence[Ask]) -> Object:
    asked = [each.as_object(name) for each in choices]
    return asked[0] if len(asked) == 1 else any_of(name, **{str(place): each for place, each in enumerate(asked)})


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
        [_drawn_ask(drawn) for _ in range(drawn.choice([1, 1, 1, 1, 2, 3]))] for _ in range(drawn.choice([1, 1, 2]))
    ]
    return Want(requests, drawn.choice(["", "", "", "matchAttribute", "distinctAttribute"]))


def _drawn_ask(drawn: random.Random) -> Ask:
    return Ask(drawn.choice([1, 1, 2, 3]), drawn.random() < 0.4, drawn.random() < 0.5, drawn.choice([0, 0, 0, 3, 6]))


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
