"""What the plugins of a session answer, and how the answers of all tiers are made one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Job, Queue, Task

PERMIT, ABSTAIN, REJECT = 1, 0, -1
OPEN, UNSCHEDULABLE, UNRESOLVABLE = 0, 2, 3
"""What a predicate says of a node, as Volcano numbers it."""
NodeCodes: TypeAlias = NDArray[np.int8]


class Victims(NamedTuple):
    """The candidates that a plugin gives up, and its vote."""

    tasks: Sequence[Task]
    vote: int = PERMIT


AskForVictims: TypeAlias = Callable[[Task, Sequence[Task]], Victims]
"""Which of the tasks, the candidates, may go for the first one."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What one plugin registers with a session; None where it has no say.

    Comparisons are negative where the left one comes first. `predicate` gives a code for every node, and `node_order`
    a score, of which those of nodes outside the mask mean nothing. Each field has the switch that turns it off.
    """

    job_order: Callable[[Job, Job], float] | None = field(default=None, metadata={"switch": "enableJobOrder"})
    queue_order: Callable[[Queue, Queue], float] | None = field(default=None, metadata={"switch": "enableQueueOrder"})
    task_order: Callable[[Task, Task], float] | None = field(default=None, metadata={"switch": "enableTaskOrder"})
    job_valid: Callable[[Job], str] | None = None
    job_ready: Callable[[Job], bool] | None = field(default=None, metadata={"switch": "enableJobReady"})
    job_pipelined: Callable[[Job], int] | None = field(default=None, metadata={"switch": "enableJobPipelined"})
    job_starving: Callable[[Job], bool] | None = field(default=None, metadata={"switch": "enableJobStarving"})
    job_enqueueable: Callable[[Job], int] | None = field(default=None, metadata={"switch": "enableJobEnqueued"})
    job_enqueued: Callable[[Job], None] | None = field(default=None, metadata={"switch": "enableJobEnqueued"})
    overused: Callable[[Queue], bool] | None = field(default=None, metadata={"switch": "enabledOverused"})
    allocatable: Callable[[Queue, Task], bool] | None = field(default=None, metadata={"switch": "enabledAllocatable"})
    preemptive: Callable[[Queue, Task], bool] | None = field(default=None, metadata={"switch": "enablePreemptive"})
    preemptable: AskForVictims | None = field(default=None, metadata={"switch": "enablePreemptable"})
    reclaimable: AskForVictims | None = field(default=None, metadata={"switch": "enableReclaimable"})
    predicate: Callable[[Task], NodeCodes] | None = field(default=None, metadata={"switch": "enablePredicate"})
    node_order: Callable[[Task, BoolMask], NDArray[np.float64]] | None = field(
        default=None, metadata={"switch": "enableNodeOrder"}
    )
    allocated: Callable[[Task], None] | None = None
    """Told of a task that was put on a node, also one that waits for the room there, and of an eviction undone."""
    deallocated: Callable[[Task], None] | None = None
    """Told of the inverse."""
    before_close: Callable[[], None] | None = None
    reopen: Callable[[], object] | None = None
    """Begins a further cycle with the same callbacks; a plugin without it starts anew in each."""


def as_before() -> None:
    """Begins a further cycle of a plugin that keeps nothing of the one before."""


_Reopen: TypeAlias = Callable[[], object]


def _reopening(plugins: Sequence[_Reopen | None]) -> Sequence[_Reopen] | None:
    """What begins a further cycle of all `plugins`; None where one of them starts anew, or without any."""
    found = [reopen for reopen in plugins if reopen is not None]
    return [each for each in found if each is not as_before] if found and len(found) == len(plugins) else None


_SWITCHES: Mapping[str, str] = {each.name: each.metadata.get("switch", "") for each in fields(Callbacks)}


class OpenPlugin(NamedTuple):
    """A plugin that takes part in a session."""

    option: PluginOption
    callbacks: Callbacks


class DecidingPlugin(NamedTuple):
    """The plugin that has decided, and the number of its tier, from 1 on."""

    plugin: str
    tier: int


class Tiers:
    """The plugins of a session, by tier."""

    def __init__(self, tiers: Sequence[Sequence[OpenPlugin]]) -> None:
        self.tiers = tuple(map(tuple, tiers))
        self._reopen = _reopening([plugin.callbacks.reopen for tier in self.tiers for plugin in tier])
        self._asked: dict[str, list[list[tuple[str, Callable[..., object]]]]] = {}
        self.rejected: dict[str, DecidingPlugin] = {}
        """Job → who has rejected it last."""

    def reopen(self) -> bool:
        """Begins a further cycle with all plugins; False where one of them starts anew in each."""
        if self._reopen is None:
            return False
        for reopen in self._reopen:
            reopen()
        self.rejected.clear()
        return True

    def named(self, point: str) -> list[list[tuple[str, Callable[..., object]]]]:
        """The callbacks of one name that are not switched off, by tier, with their plugins."""
        known = self._asked.get(point)
        if known is None:
            switch = _SWITCHES[point]
            known = self._asked[point] = [
                [
                    (plugin.option.name, callback)
                    for plugin in tier
                    if switch not in plugin.option.off and (callback := getattr(plugin.callbacks, point)) is not None
                ]
                for tier in self.tiers
            ]
        return known

    def of(self, point: str) -> list[list[Callable[..., object]]]:
        """The same without their plugins."""
        return [[callback for _, callback in tier] for tier in self.named(point)]

    def each(self, point: str) -> Iterator[Callable[..., object]]:
        """The same of all tiers in a row."""
        return (callback for tier in self.named(point) for _, callback in tier)

    def all_of(self, point: str, *asked: object) -> bool:
        """Whether no plugin says no."""
        return all(callback(*asked) for callback in self.each(point))

    def any_of(self, point: str, *asked: object) -> bool:
        """Whether somebody says yes."""
        return any(callback(*asked) for callback in self.each(point))

    def decider(self, point: str, *asked: object, answer: bool) -> DecidingPlugin | None:
        """The first plugin that gives this answer; None without one."""
        for number, tier in enumerate(self.named(point), start=1):
            for plugin, callback in tier:
                if bool(callback(*asked)) is answer:
                    return DecidingPlugin(plugin, number)
        return None

    def compared(self, point: str, left: object, right: object) -> float:
        """The first comparison that tells them apart."""
        for compare in self.each(point):
            found = compare(left, right)
            if isinstance(found, float | int) and found:
                return found
        return 0

    def job_is_less(self, left: Job, right: Job) -> bool:
        """Whether `left` comes first."""
        found = self.compared("job_order", left, right)
        return found < 0 if found else (left.created_at, left.id) < (right.created_at, right.id)

    def queue_is_less(self, left: Queue, right: Queue) -> bool:
        """Whether `left` comes first."""
        found = self.compared("queue_order", left, right)
        return found < 0 if found else (left.created_at, left.name) < (right.created_at, right.name)

    def task_is_less(self, left: Task, right: Task) -> bool:
        """Whether `left` comes first."""
        found = self.compared("task_order", left, right)
        if found:
            return found < 0
        if left.index is not None and right.index is not None and left.index != right.index:
            return left.index < right.index
        return (left.created_at, left.uid) < (right.created_at, right.uid)

    def fault_of(self, job: Job) -> str:
        """The first reason why `job` is not valid, or an empty string."""
        return next((str(fault) for valid in self.each("job_valid") if (fault := valid(job))), "")

    def votes_for(self, point: str, job: Job) -> bool:
        """Whether `job` is let pass: no plugin may reject it before a tier is through that permits it."""
        for number, tier in enumerate(self.named(point), start=1):
            is_permitted = False
            for plugin, callback in tier:
                vote = callback(job)
                if vote == REJECT:
                    self.rejected[job.id] = DecidingPlugin(plugin, number)
                    return False
                is_permitted = is_permitted or vote == PERMIT
            if is_permitted:
                return True
        return True

    def is_starving(self, job: Job) -> bool:
        """What the first tier says that says anything."""
        first = next((tier for tier in self.of("job_starving") if tier), ())
        return bool(first) and all(callback(job) for callback in first)

    def victims(self, point: str, initiator: Task, candidates: Sequence[Task]) -> Sequence[Task]:
        """The candidates that may go by the first tier that gives any, in their order.

        Once a plugin has given some, those of later plugins and tiers only take away from them.
        """
        victims: list[Task] = []
        has_begun = False
        for tier in self.of(point):
            for callback in tier:
                found = callback(initiator, candidates)
                if not isinstance(found, Victims) or found.vote == ABSTAIN:
                    continue
                if not found.tasks:
                    victims = []
                    break
                kept = {task.uid for task in found.tasks}
                victims = [task for task in victims if task.uid in kept] if has_begun else list(found.tasks)
                has_begun = True
            if victims:
                return victims
        return ()

    def codes(self, task: Task, num_nodes: int) -> NodeCodes:
        """For each node what the first predicate says that refuses it."""
        codes = np.zeros(num_nodes, dtype=np.int8)
        for callback in self.each("predicate"):
            found = callback(task)
            if isinstance(found, np.ndarray):
                codes = np.where(codes == OPEN, found, codes)
        return codes

    def scores(self, task: Task, nodes: BoolMask) -> NDArray[np.float64]:
        """The sum of all scores."""
        total = np.zeros(len(nodes))
        for callback in self.each("node_order"):
            found = callback(task, nodes)
            if isinstance(found, np.ndarray):
                total += found
        return total

    def tell_enabled(self, point: str, *told: object) -> None:
        """Tells the plugins that are not switched off at this point."""
        for callback in self.each(point):
            callback(*told)

    def tell(self, point: str, *told: object) -> None:
        """Tells every plugin, whatever is switched off, of what has happened."""
        callbacks: Iterable[Callable[..., object] | None] = (
            getattr(plugin.callbacks, point) for tier in self.tiers for plugin in tier
        )
        for callback in callbacks:
            if callback is not None:
                callback(*told)
