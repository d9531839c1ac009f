"""The pods that the program had leave: counted against limits and budgets, and followed until they are replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from tests.living.acting.budgets import desired_healthy, pods_of_budget
from tests.living.acting.workloads import controller_of
from tests.living.api.evictions import budgets_of, is_ready
from tests.living.observing.promises import Departure, Limits, Promise
from tests.living.store import Change, Object, Store

ROOM_LABEL = "descheduler/job"
"""Label of what holds room; its value is the uid of the job."""

Found = tuple[Promise, str]


class Departures:
    """`agents` are the program. Pods that hold room are no workload and may come and go."""

    def __init__(self, store: Store, limits: Limits, agents: Collection[str]) -> None:
        self.all: list[Departure] = []
        self._store = store
        self._limits = limits
        self._agents = agents
        self._replaces: dict[str, Departure] = {}
        """UID of a replacement → whom it replaces."""
        self._unreplaced: list[Departure] = []
        self._open: dict[str, Departure] = {}

    def next_round(self) -> None:
        """From now on pods may be evicted that were replacements before, and limits count anew."""
        self.all.clear()
        self._replaces.clear()
        self._unreplaced.clear()
        self._open.clear()

    def note(self, change: Change) -> Iterator[Found]:
        """Takes a change of a pod into account, and tells what it breaks."""
        if change.before is None:
            self._note_new(change.present)
        elif _begins_to_leave(change) and change.actor in self._agents:
            if ROOM_LABEL not in (change.before["metadata"].get("labels") or {}):
                yield from self._note_departure(change.before, change.call)
        elif change.after is not None:
            self._note_ready(change.after)

    def repeated(self, pod: Object, call: int, was_told: Callable[[int], bool]) -> Iterator[Found]:
        """What is wrong with an eviction that was accepted, and changed nothing as the pod was leaving already.

        To ask again is wrong for who was told before that the pod leaves (`was_told` of the earlier call).
        """
        for departure in self.all:
            if departure.uid == pod["metadata"]["uid"] and departure.call < call and was_told(departure.call):
                text = f"pod {departure.name} was evicted again, after request {departure.call} had evicted it"
                yield Promise.ONCE, text

    @property
    def owners(self) -> set[str]:
        """UIDs of the controllers that lost pods."""
        return {departure.owner for departure in self.all if departure.owner}

    def _note_departure(self, pod: Object, call: int) -> Iterator[Found]:
        owner = controller_of(pod)
        made = Departure(pod, owner["uid"] if owner else "", call, self._store.clock.monotonic())
        self.all.append(made)
        yield from self._budgets_broken(made)
        if (former := self._replaces.pop(made.uid, None)) is not None:
            yield Promise.REPLACEMENT, f"pod {made.name}, the replacement of {former.name}, was evicted"
        if made.owner:
            self._unreplaced.append(made)
            self._open[made.uid] = made
        else:
            yield Promise.NOTHING_LOST, f"pod {made.name} was evicted, and it has no controller that replaces it"
        yield from self._limits_exceeded(made)

    def _budgets_broken(self, made: Departure) -> Iterator[Found]:
        if not is_ready(made.pod):
            return
        for budget in budgets_of(self._store, made.pod):
            pods = pods_of_budget(self._store, budget)
            staying = [pod for pod in pods if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]
            needed = desired_healthy(self._store, budget, pods)
            if len(staying) < needed:
                text = f"pod {made.name} was evicted, which leaves {len(staying)} healthy pods"
                yield Promise.BUDGET, f"{text}; budget {budget['metadata']['name']} needs {needed}"

    def _limits_exceeded(self, made: Departure) -> Iterator[Found]:
        limits, node, namespace = self._limits, f"node {made.node}", f"namespace {made.namespace}"
        of_node = [other for other in self.all if other.node == made.node]
        of_namespace = [other for other in self.all if other.namespace == made.namespace]
        yield from _above(limits.total, self.all, "in all")
        yield from _above(limits.per_node, of_node, f"of {node}")
        yield from _above(limits.per_namespace, of_namespace, f"of {namespace}")
        moving = list(self._open.values())
        yield from _above(limits.at_once, moving, "at once")
        yield from _above(limits.at_once_per_node, [m for m in moving if m.node == made.node], f"at once of {node}")
        own = [other for other in moving if other.namespace == made.namespace]
        yield from _above(limits.at_once_per_namespace, own, f"at once of {namespace}")
        own = [other for other in moving if other.owner == made.owner]
        yield from _above(limits.at_once_per_workload, own, f"at once of the workload of {made.name}")

    def _note_new(self, pod: Object) -> None:
        owner = controller_of(pod)
        for departure in self._unreplaced:
            if owner is not None and departure.owner == owner["uid"]:
                self._unreplaced.remove(departure)
                self._replaces[pod["metadata"]["uid"]] = departure
                return

    def _note_ready(self, pod: Object) -> None:
        replaced = self._replaces.get(pod["metadata"]["uid"])
        if replaced is not None and is_ready(pod):
            self._open.pop(replaced.uid, None)


def _begins_to_leave(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None or "deletionTimestamp" in before["metadata"]:
        return False
    return after is None or "deletionTimestamp" in after["metadata"]


def _above(limit: int | None, found: Sequence[Departure], of_what: str) -> Iterator[Found]:
    if limit is not None and len(found) > limit:
        yield Promise.LIMIT, f"{len(found)} pods were evicted {of_what}, and {limit} are allowed"
