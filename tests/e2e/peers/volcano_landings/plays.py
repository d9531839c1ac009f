"""What Volcano may do with a cluster until nothing changes: the product's sessions, cycle by cycle, by many choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.needs import landing_annotations
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.conformance.volcano.worlds import RandomChoices
from tests.e2e.kube_api import Object
from tests.placement.volcano.cycle.cycle import run_cycle

T = TypeVar("T")

_NUM_SAID, _MOST_FURTHER = 4, 100
_MOST_CYCLES = 60
_ENDING = "2026-01-01T00:00:00Z"


class Play(NamedTuple):
    """Pods by name: those that are bound, with their nodes, and those that are evicted."""

    nodes: Mapping[str, str]
    evicted: Collection[str]

    @property
    def by_job(self) -> Mapping[str, int]:
        """How many pods of each job are bound."""
        return Counter(pod.rpartition("-")[0] for pod in self.nodes)

    @property
    def outcome(self) -> tuple[frozenset[str], frozenset[tuple[str, int]]]:
        """Which pods are bound, whatever their nodes, and which are evicted.

        Of nodes of one score Volcano takes any. So of the pods of a job that are bound here any may be evicted, and
        only their number counts.
        """
        evicted = Counter(pod.rpartition("-")[0] if pod in self.nodes else pod for pod in self.evicted)
        return frozenset(self.nodes), frozenset(evicted.items())

    def is_like(self, other: Play) -> bool:
        """Whether it comes to the same."""
        return self.outcome == other.outcome


class Plays:
    """Plays of a scheduler with `configuration` over `objects`: a few are `said`, further ones are looked for.

    Pods that are evicted are still ending when a play is over, as there is no kubelet. It is over once nothing comes
    of a cycle whichever queue is first: action preempt may be lost on a job only because another queue was.
    """

    def __init__(self, objects: Sequence[Object], configuration: str) -> None:
        self._objects = objects
        self._configuration = load_volcano_configuration(configuration, modelled=VOLCANO_PLUGINS)
        self._includes: dict[object, bool] = {}
        self._queues = [_name(obj) for obj in objects if obj["kind"] == "Queue"]
        self.said = tuple(self._play(_OfBusyWorkers(seed)) for seed in range(_NUM_SAID))

    @property
    def is_certain(self) -> bool:
        """Whether all that is said is one and the same."""
        return all(each.is_like(self.said[0]) for each in self.said)

    def include(self, came: Play) -> bool:
        """Whether some play comes to the same: one that is said, or one in which chance leans towards it."""
        if came.outcome not in self._includes:
            plays = chain(self.said, self._leaning_to(came))
            self._includes[came.outcome] = any(play.is_like(came) for play in plays)
        return self._includes[came.outcome]

    def bind_as_many(self, by_job: Mapping[str, int]) -> bool:
        """Whether some play binds so many pods of each job, by chance alone."""
        further = (self._play(_OfBusyWorkers(seed)) for seed in range(_NUM_SAID, _MOST_FURTHER))
        return any(play.by_job == by_job for play in chain(self.said, further))

    def _leaning_to(self, came: Play) -> Iterator[Play]:
        pods = (obj for obj in self._objects if obj["kind"] == "Pod")
        homes = {**{_name(pod): pod["spec"].get("nodeName", "") for pod in pods}, **came.nodes}
        names = sorted(_name(obj) for obj in self._objects if obj["kind"] == "Node")
        nodes = {names.index(homes[pod]) for pod in came.evicted}
        # A node that is wanted last may be out of the question where it is looked at first.
        leanings = ((), nodes)
        return (self._play(_Leaning(seed, came.evicted, leanings[seed % 2])) for seed in range(_MOST_FURTHER))

    def _play(self, choices: _OfBusyWorkers) -> Play:
        objects, nodes, evicted = self._objects, dict[str, str](), set[str]()
        left_to_be_first = list(self._queues)
        for _ in range(_MOST_CYCLES):
            snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))
            session = Session(ShadowCluster(snapshot), self._configuration, plugins=VOLCANO_PLUGINS, choices=choices)
            run_cycle(session)
            session.close()
            gone = {eviction.task.pod.name for eviction in session.evictions}
            bound = {task.pod.name: session.cluster.table.names[task.node] for task, _ in session.binds.values()}
            if gone or bound:
                choices.first, left_to_be_first = "", list(self._queues)
            elif left_to_be_first:
                choices.first = left_to_be_first.pop()
            else:
                break
            evicted |= gone
            nodes |= bound
            objects = [_after(obj, session, bound, gone) for obj in objects]
        return Play(nodes, evicted)


class _OfBusyWorkers(RandomChoices):
    """As chance has it, also in which order workers have finished: others run beside them.

    Of queues the one that is called `first` comes first.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.first = ""

    def shuffled(self, items: Iterable[T]) -> list[T]:
        return sorted(super().shuffled(items), key=lambda each: each != self.first)

    def raced(self, items: Iterable[T]) -> list[T]:
        return super().shuffled(items)


class _Leaning(_OfBusyWorkers):
    """The same, but that pods which were evicted, and their nodes, are looked at first."""

    def __init__(self, seed: int, evicted: Collection[str], nodes: Collection[int]) -> None:
        super().__init__(seed)
        self._evicted, self._nodes = evicted, nodes

    def shuffled(self, items: Iterable[T]) -> list[T]:
        return self._first(items, lambda each: isinstance(each, Task) and each.pod.name in self._evicted)

    def raced(self, items: Iterable[T]) -> list[T]:
        return self._first(items, self._nodes.__contains__)

    def _first(self, items: Iterable[T], is_wanted: Callable[[T], bool]) -> list[T]:
        return sorted(super().shuffled(items), key=is_wanted, reverse=True)


def _after(obj: Object, session: Session, bound: Mapping[str, str], gone: Collection[str]) -> Object:
    """The object as the cycle leaves it."""
    metadata, name = obj["metadata"], _name(obj)
    if obj["kind"] == "PodGroup":
        phase = session.jobs[f"{metadata['namespace']}/{name}"].phase
        return {**obj, "status": {**obj.get("status", {}), "phase": phase}}
    if obj["kind"] != "Pod" or name not in {*bound, *gone}:
        return obj
    if name in gone:
        obj = {**obj, "metadata": {**metadata, "deletionTimestamp": _ENDING}}
    return {**obj, "spec": {**obj["spec"], "nodeName": bound.get(name) or obj["spec"]["nodeName"]}}


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
