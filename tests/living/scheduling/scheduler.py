"""kube-scheduler, as far as it matters here: a queue by priority, one pod at a time, preemption, and patience."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.living.acting.actor import Actor
from tests.living.api.request import Target
from tests.living.api.writes import bind, delete_pod
from tests.living.resources import by_plural
from tests.living.scheduling.amounts import pod_requests
from tests.living.scheduling.filters import obstacles
from tests.living.scheduling.preemption import may_preempt, preemption_for, priority_of
from tests.living.scheduling.rooms import NodeRoom, rooms_of
from tests.living.store import Change, Object, Store

_PODS = by_plural("pods")
_CYCLE_SECONDS = 0.02
_FIRST_BACKOFF_SECONDS = 1.0
_LONGEST_BACKOFF_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Placement:
    """A node for a pod; `reservation` is the one that it uses, `rank` what decides between nodes (less is better)."""

    room: NodeRoom
    rank: tuple[float, float, str]
    reservation: Object | None = None


@dataclass(slots=True)
class _Parked:
    """A pod that found no node: at which change of the cluster, how often, and when it may try again."""

    epoch: int
    num_attempts: int
    not_before: float


class Scheduler(Actor):
    """Schedules the pods whose `schedulerName` is one of `names`, or only binds nothing while `is_paused`."""

    kinds = frozenset({"Pod", "Node", "Reservation", "ElasticQuota"})
    delay_seconds = 0.02

    def __init__(self, store: Store, *names: str) -> None:
        self.name = names[0]
        self.is_paused = False
        self._names = names
        self._epoch = 0
        self._parked: dict[str, _Parked] = {}
        super().__init__(store)

    def concerns(self, change: Change) -> bool:
        """Changes of what pods say of themselves make no room."""
        if change.resource.kind == "Pod" and change.before is not None and change.after is not None:
            before, after = change.before, change.after
            if all(_weight(before, part) == _weight(after, part) for part in ("nodeName", "phase")):
                return False
        self._epoch += 1
        return True

    def act(self) -> None:
        """Tries the first pod of the queue."""
        if self.is_paused:
            return
        now = self.store.clock.monotonic()
        waiting = sorted(self.pending(), key=lambda pod: (-priority_of(pod), pod["metadata"]["creationTimestamp"]))
        ready = [pod for pod in waiting if self._may_try(pod, now)]
        if ready:
            self._try(ready[0])
            self.wake(_CYCLE_SECONDS)
            return
        backing_off = [parked.not_before for parked in self._parked.values() if parked.epoch < self._epoch]
        if waiting and any(at > now for at in backing_off):
            self.wake(min(at for at in backing_off if at > now) - now)

    def pending(self) -> Iterable[Object]:
        """What waits for a node, by name."""
        return [
            pod
            for pod in self.store.all("pods")
            if not pod["spec"].get("nodeName")
            and pod["spec"].get("schedulerName") in self._names
            and "deletionTimestamp" not in pod["metadata"]
            and pod["status"].get("phase") == "Pending"
            and not pod["spec"].get("schedulingGates")
        ]

    def placement_on(self, pod: Object, room: NodeRoom, rooms: Sequence[NodeRoom]) -> Placement | list[str]:
        """How the pod can be placed on a node, or all that keeps it from it."""
        found = obstacles(pod, room, rooms)
        return found or Placement(room, (0.0, -free_share(pod, room), room.name))

    def refusal(self, pod: Object) -> str:
        """What keeps the pod from every node, "" if nothing does."""
        del pod
        return ""

    def rooms(self) -> list[NodeRoom]:
        """The nodes as they are."""
        return rooms_of(self.store)

    def place(self, pod: Object, placement: Placement) -> None:
        """Binds the pod."""
        bind(self.store, _target(pod), {"target": {"name": placement.room.name}})

    def tell_unschedulable(self, pod: Object, message: str) -> None:
        """Writes the condition of the pod."""
        self._edit_status(pod, {}, _condition("False", self.store.clock.text(), message))

    def find(self, pod: Object) -> Placement | str:
        """The best placement, or why there is none."""
        if text := self.refusal(pod):
            return text
        rooms = self._rooms_beside_nominated(pod)
        found = [self.placement_on(pod, room, rooms) for room in rooms]
        possible = [placement for placement in found if isinstance(placement, Placement)]
        if possible:
            return min(possible, key=lambda placement: placement.rank)
        counts = Counter(reason for reasons in found if isinstance(reasons, list) for reason in reasons)
        told = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        return f"0/{len(rooms)} nodes are available: {told}."

    def _try(self, pod: Object) -> None:
        epoch = self._epoch
        found = self.find(pod)
        if isinstance(found, Placement):
            self._parked.pop(pod["metadata"]["uid"], None)
            self.place(pod, found)
            return
        self.tell_unschedulable(pod, found)
        if pod["kind"] == "Pod":
            self._preempt(pod)
        self._park(pod, epoch)

    def _preempt(self, pod: Object) -> None:
        rooms = self._rooms_beside_nominated(pod)
        made = preemption_for(self.store, pod, rooms) if may_preempt(pod, rooms) else None
        if made is None:
            return
        self._edit_status(pod, {"nominatedNodeName": made.node}, None)
        for victim in made.victims:
            if victim["spec"].get("nodeName") == made.node:
                delete_pod(self.store, victim)

    def _park(self, pod: Object, epoch: int) -> None:
        uid = pod["metadata"]["uid"]
        num_attempts = self._parked[uid].num_attempts + 1 if uid in self._parked else 1
        seconds = min(_FIRST_BACKOFF_SECONDS * 2 ** (num_attempts - 1), _LONGEST_BACKOFF_SECONDS)
        self._parked[uid] = _Parked(epoch, num_attempts, self.store.clock.monotonic() + seconds)

    def _may_try(self, pod: Object, now: float) -> bool:
        parked = self._parked.get(pod["metadata"]["uid"])
        return parked is None or (parked.epoch < self._epoch and now >= parked.not_before)

    def _rooms_beside_nominated(self, pod: Object) -> list[NodeRoom]:
        """The nodes with the pods that have been promised them and are not less important than `pod`."""
        promised = [
            other
            for other in self.pending()
            if other["status"].get("nominatedNodeName")
            and other["metadata"]["uid"] != pod["metadata"]["uid"]
            and priority_of(other) >= priority_of(pod)
        ]
        return [
            room.with_pods([other for other in promised if other["status"]["nominatedNodeName"] == room.name])
            for room in self.rooms()
        ]

    def _edit_status(self, pod: Object, parts: Object, condition: Object | None) -> None:
        def edit(found: Object) -> None:
            known = found["status"].get("conditions", [])
            found["status"] |= parts
            same = next((item for item in known if condition and item["type"] == condition["type"]), None)
            if condition and (same is None or same.get("message") != condition["message"]):
                found["status"]["conditions"] = [item for item in known if item is not same] + [condition]

        self.store.edit("pods", pod["metadata"]["name"], pod["metadata"]["namespace"], edit)


def free_share(pod: Object, room: NodeRoom) -> float:
    """The mean share of cpu and memory that stays free: the score of LeastAllocated."""
    has, taken, needed = room.allocatable, room.requested, pod_requests(pod)
    shares = [
        (has[name] - taken.get(name, 0) - needed.get(name, 0)) / has[name]
        for name in ("cpu", "memory")
        if has.get(name)
    ]
    return round(sum(shares) / len(shares), 4) if shares else 0.0


def _weight(pod: Object, part: str) -> object:
    return pod["spec"].get(part) if part == "nodeName" else pod["status"].get("phase") in ("Succeeded", "Failed")


def _target(pod: Object) -> Target:
    return Target(_PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])


def _condition(value: str, at: str, message: str) -> Object:
    reason = {"reason": "Unschedulable"} if value == "False" else {}
    return {"type": "PodScheduled", "status": value, "lastTransitionTime": at, "message": message, **reason}
