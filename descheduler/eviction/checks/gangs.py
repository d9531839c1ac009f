"""Gangs are not taken below the number of pods that they need to run, whoever schedules them.

koord-descheduler knows nothing of gangs (koordinator 1.8). Most workloads in gangs fail as a whole when one pod of
theirs is gone, whatever the scheduler does with its replacement; so the minimum holds for every match policy. A pod
that is bound and still Pending, for example because its image is pulled, is a member that can be evicted, and does none
of the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.placement_verification.placement_verification import EVICT_GANG, REFUSE, verification_args
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.groups.gangs import AllGangs, GangMinimum, gangs_of, volcano_gang_of
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle
from descheduler.plan.moves import Move
from descheduler.policy.types import Profile

_Members = tuple[str, bool]
"""The key of a gang, or of a task of it, with True for its members that run, and False for those that do not."""


class GangCheck:
    """Lets members of a gang go while at least its minMember run, or all of its group at once; of a PodGroup whose
    disruptionMode is `all`, only the latter.

    Where a profile moves gangs whole, it names the pods with which one of them may go, and those that are left of a
    group may follow the others.
    Replacements of this run are not counted: they have to start first. Profiles that do not verify landings are not
    held to that, as koord-descheduler is not; what they evict counts for the others. Each pod is charged once.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot, background: BackgroundEvictions) -> None:
        found = map(verification_args, profiles)
        self._on_minimum = ["" if args is None else args.on_gang_minimum or REFUSE for args in found]
        self._snapshot = snapshot
        self._background = background
        self._charged: set[str] = set()
        self._evicted: Counter[_Members] = Counter()

    def verdict(self, bundle: Bundle) -> Verdict:
        """The first gang that would have too few pods left, else acceptance."""
        on_minimum = self._on_minimum[bundle.profile_index]
        if not on_minimum:
            return ACCEPTED
        leaving = self._leaving(bundle)
        short = next(self._short(leaving, may_follow=on_minimum == EVICT_GANG), None)
        return ACCEPTED if short is None else self._refusal(short, leaving, on_minimum)

    def mates(self, bundle: Bundle) -> Sequence[Pod]:
        """The other bound pods of gangs that `bundle` would leave too small, and of their groups, by name."""
        if self._on_minimum[bundle.profile_index] != EVICT_GANG:
            return ()
        own = {pod.uid for pod in bundle.pods}
        short = list(self._short(self._leaving(bundle), may_follow=True))
        keys = dict.fromkeys(key for minimum in short for key in minimum.group)
        members = {pod.uid: pod for key in keys for pod in self._gangs.members.get(key, ()) if pod.uid not in own}
        return sorted(filter(self._is_there, members.values()), key=lambda pod: pod.key)

    def charge(self, bundle: Bundle) -> Undo:
        """Counts the bound members among those that go."""
        return self._charge(bundle.pods)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what earlier rounds have evicted."""
        self._charge(move.pod for move in moves)

    def _leaving(self, bundle: Bundle) -> Mapping[_Members, int]:
        """How many bound pods of each gang go; mostly there are none."""
        members = [pod for pod in bundle.pods if gangs_of(pod) and self._is_there(pod)]
        return Counter(_members_with(members)) if members else {}

    def _short(self, leaving: Mapping[_Members, int], *, may_follow: bool) -> Iterator[GangMinimum]:
        """The gangs that would have too few pods left; `may_follow`: the last of a group may go after the others."""
        for key in dict.fromkeys(key for key, _ in leaving):
            minimum = self._gangs.minimum(key)
            if minimum is not None and not self._may_shrink(minimum, leaving, may_follow):
                yield minimum

    def _may_shrink(self, minimum: GangMinimum, leaving: Mapping[_Members, int], may_follow: bool) -> bool:
        has_enough = self._left((minimum.key, True), leaving) + self._succeeded[minimum.key] >= minimum.least
        if has_enough and not minimum.leaves_whole:
            return True
        group = [(key, runs) for key in minimum.group for runs in (True, False)]
        is_at_once = may_follow or not any(self._evicted[members] for members in group)
        return is_at_once and not any(self._left(members, leaving) for members in group)

    def _left(self, members: _Members, leaving: Mapping[_Members, int]) -> int:
        return self._bound[members] - self._evicted[members] - leaving.get(members, 0)

    def _refusal(self, minimum: GangMinimum, leaving: Mapping[_Members, int], on_minimum: str) -> Verdict:
        running, starting = (minimum.key, True), (minimum.key, False)
        num_starting = self._bound[starting] - self._evicted[starting]
        num_leaving = leaving.get(running, 0) + leaving.get(starting, 0)
        already = f", {self._evicted[running]} of them already evicted by this run" if self._evicted[running] else ""
        pending = f", {_pods(num_starting)} scheduled but not running" if num_starting else ""
        done = f", {_pods(self._succeeded[minimum.key])} succeeded" if self._succeeded[minimum.key] else ""
        message = (
            f"{_named(minimum)} has {_pods(self._bound[running])} running{already}{pending}{done};"
            f" {_needed(minimum)}, and {_pods(num_leaving)} would be evicted (onGangMinimum: {on_minimum})"
        )
        return refuse(Reason.GANG_MINIMUM, message, minimum.name)

    def _charge(self, pods: Iterable[Pod]) -> Undo:
        charged = [pod for pod in pods if gangs_of(pod) and self._is_there(pod)]
        if not charged:
            return NOTHING_DONE
        self._count(charged, self._charged.add, 1)
        return lambda: self._count(charged, self._charged.discard, -1)

    def _count(self, pods: Sequence[Pod], note: Callable[[str], None], number: int) -> None:
        for pod in pods:
            note(pod.uid)
        for members in _members_with(pods):
            self._evicted[members] += number

    def _is_there(self, pod: Pod) -> bool:
        """Whether `pod` counts as a bound member that this run has not evicted."""
        return _is_bound(pod) and pod.uid not in self._charged and not self._background.concern(pod)

    @property
    def _gangs(self) -> AllGangs:
        return self._snapshot.gangs

    @cached_property
    def _bound(self) -> Counter[_Members]:
        """How many pods of each gang are on a node in the snapshot, those that run and those that do not."""
        bound = ((key, pod) for key, pods in self._gangs.members.items() for pod in pods if _is_bound(pod))
        return Counter((key, _runs(pod)) for key, pod in bound)

    @cached_property
    def _succeeded(self) -> Counter[str]:
        """How many pods of each gang of Volcano have succeeded: Volcano counts those among the pods that it needs."""
        found = ((key, pod) for key, pods in self._gangs.members.items() for pod in pods if pod.phase == "Succeeded")
        return Counter(key for key, pod in found if key.startswith(volcano_gang_of(pod) or "#"))


def _is_bound(pod: Pod) -> bool:
    return bool(pod.node_name) and not pod.is_terminal and not pod.is_terminating


def _runs(pod: Pod) -> bool:
    return pod.phase == "Running"


def _members_with(pods: Iterable[Pod]) -> Iterator[_Members]:
    """Each pod once for each of its gangs and tasks."""
    return ((key, _runs(pod)) for pod in pods for key in gangs_of(pod))


def _named(minimum: GangMinimum) -> str:
    return f"task {minimum.task} of gang {minimum.name}" if minimum.task else f"gang {minimum.name}"


def _needed(minimum: GangMinimum) -> str:
    if minimum.leaves_whole:
        return "its pods are evicted all together or not at all (disruptionMode: all)"
    needed = f"it needs {minimum.least} ({minimum.setting})"
    return needed if len(minimum.group) == 1 else f"{needed}, and so do the gangs of its group"


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
