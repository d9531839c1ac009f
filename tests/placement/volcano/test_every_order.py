"""Batches of pods of Volcano that are proven to land in every order, played with real sessions in random orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeVar

import pytest

from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.worlds import Object, group, node, owned, pods, prover_of, queue, snapshot_of
from tests.series import Part, parts

T = TypeVar("T")

_OLD = "old"
_NUM_ORDERS, _NUM_CYCLES = 3, 2
_SEEDS = range(2_000)
_PARTS = parts(200)
_CLOSED = {**node(_OLD, cpu="100"), "spec": {"unschedulable": True}}


def _document(sharing: str) -> Mapping[str, object]:
    tiers = (("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", sharing, "nodeorder", "binpack"))
    named = [{"plugins": [{"name": name} for name in tier]} for tier in tiers]
    return {"actions": "enqueue, allocate, backfill", "tiers": named}


class _AnyChoices:
    """Chooses at random."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def index(self, number: int) -> int:
        return self._random.randrange(number)

    def shuffled(self, items: Iterable[T]) -> list[T]:
        found = list(items)
        self._random.shuffle(found)
        return found

    def raced(self, items: Iterable[T]) -> list[T]:
        return self.shuffled(items)


class _World:
    """A cluster that changes as its schedulers place pods."""

    def __init__(self, random: Random, objects: Sequence[Object], sharing: str) -> None:
        self.random = random
        self.configuration = load_volcano_configuration(_document(sharing), modelled=VOLCANO_PLUGINS)
        self.others = [each for each in objects if each["kind"] not in ("Pod", "PodGroup")]
        self.groups = {each["metadata"]["name"]: each for each in objects if each["kind"] == "PodGroup"}
        self.pods = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Pod"}

    def create_again(self, name: str) -> None:
        """The pod is gone, and is there again without a node."""
        pod = self.pods[name]
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        self.pods[name] = {**pod, "spec": spec, "status": {"phase": "Pending"}}
        if pod["spec"]["schedulerName"] != "volcano":
            self._place_anywhere(name)

    def _place_anywhere(self, name: str) -> None:
        """Any scheduler's choice, among the nodes that have room."""
        cpu = self._cpu(self.pods[name])
        nodes = [each for each in self.others if each["kind"] == "Node" and each["metadata"]["name"] != _OLD]
        roomy = [each["metadata"]["name"] for each in nodes if self._free(each) >= cpu]
        if roomy:
            self._bind(name, self.random.choice(roomy))

    @staticmethod
    def _cpu(pod: Object) -> int:
        return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])

    def _free(self, node: Object) -> int:
        held = (self._cpu(pod) for pod in self.pods.values() if pod["spec"].get("nodeName") == node["metadata"]["name"])
        return int(node["status"]["allocatable"]["cpu"]) - sum(held)

    def _bind(self, name: str, node_name: str) -> None:
        pod = self.pods[name]
        self.pods[name] = {**pod, "spec": {**pod["spec"], "nodeName": node_name}, "status": {"phase": "Running"}}

    def run_volcano(self) -> None:
        """One cycle."""
        snapshot = snapshot_of(self.objects())
        session = Session(
            ShadowCluster(snapshot), self.configuration, plugins=VOLCANO_PLUGINS, choices=_AnyChoices(self.random)
        )
        run_cycle(session)
        session.close()
        for task, _ in session.binds.values():
            self._bind(task.pod.name, session.cluster.table.names[task.node])
        for job in session.jobs.values():
            name = job.group.name
            self.groups[name] = {**self.groups[name], "status": {"phase": job.phase}}

    def objects(self) -> list[Object]:
        """All objects as they are now."""
        return [*self.others, *self.groups.values(), *self.pods.values()]

    def waiting(self, names: Iterable[str]) -> list[str]:
        """Those of the pods that have no node."""
        return [name for name in names if not self.pods[name]["spec"].get("nodeName")]


def _objects(random: Random) -> Iterator[Object]:
    """Nodes, queues, and jobs on the old node, elsewhere, or pending; and pods of another scheduler."""
    nodes = [f"n{number}" for number in range(random.randint(2, 5))]
    yield _CLOSED
    for name in nodes:
        yield node(name, cpu=str(random.randint(2, 6)))
    queues = [f"q{number}" for number in range(random.randint(1, 3))]
    for name in queues:
        capability = {"capability": {"cpu": str(random.randint(4, 20))}} if random.random() < 0.4 else {}
        yield queue(name, weight=random.randint(1, 4), **capability)
    for number in range(random.randint(1, 4)):
        size, name = random.randint(1, 4), f"job{number}"
        least, cpu = random.choice((1, 1, random.randint(1, size))), random.randint(1, 2)
        needs = {"minResources": {"cpu": str(least * cpu)}} if random.random() < 0.7 else {}
        on = random.choice((_OLD, _OLD, _OLD, ""))
        yield group(name, least=least, queue=random.choice(queues), phase="Running" if on else "Pending", **needs)
        yield from owned(pods(name, size, cpu=str(cpu), on=on), owner=name)
    for number in range(random.randint(0, 2)):
        (pod,) = owned(pods(f"web{number}", 1, cpu=str(random.randint(1, 2)), on=_OLD), owner=f"web{number}")
        yield {**pod, "spec": {**pod["spec"], "schedulerName": "default-scheduler"}}


@pytest.mark.long
@pytest.mark.parametrize("may_stay", [False, True], ids=["all leave", "some may stay"])
@pytest.mark.parametrize("part", _PARTS)
def test_what_is_proven_lands_whatever_comes_first(part: Part, may_stay: bool) -> None:
    left = {seed: found for seed in part.of(_SEEDS) if (found := _Batch(seed, may_stay=may_stay).left_without_node())}

    assert left == {}


@pytest.mark.long
def test_most_batches_of_a_few_pods_are_proven() -> None:
    batches = [_Batch(seed, may_stay=False) for seed in range(20)]

    assert sum(batch.is_proven for batch in batches) > len(batches) / 2


class _Batch:
    """Pods that leave the old node of a random world, in which no pending pod fits."""

    def __init__(self, seed: int, *, may_stay: bool) -> None:
        self._random = Random(seed)
        self._may_stay = may_stay
        self._sharing = self._random.choice(("proportion", "capacity"))
        world = _World(self._random, list(_objects(self._random)), self._sharing)
        for _ in range(_NUM_CYCLES):
            world.run_volcano()
        self._objects = world.objects()
        prover, by_name = prover_of(self._objects, configuration=_document(self._sharing))
        running = [pod for pod in by_name.values() if pod.node_name == _OLD]
        victims = self._random.sample(running, min(len(running), self._random.randint(1, 5)))
        self._victims = [pod.name for pod in victims]
        self.is_proven = bool(victims) and not prover.unproven(victims, victims, may_stay=may_stay)

    def left_without_node(self) -> list[str]:
        """Where that is proven not to happen: the pods that had none in some order of several."""
        orders = range(_NUM_ORDERS if self.is_proven else 0)
        return next(filter(None, (self._left_in_some_order() for _ in orders)), [])

    def _left_in_some_order(self) -> list[str]:
        random, world = self._random, _World(self._random, self._objects, self._sharing)
        leaving = [name for name in self._victims if not self._may_stay or random.random() < 0.7]
        random.shuffle(leaving)
        for name in leaving:
            world.create_again(name)
            if random.random() < 0.6:
                world.run_volcano()
        for _ in range(_NUM_CYCLES):
            world.run_volcano()
        return world.waiting(leaving)
