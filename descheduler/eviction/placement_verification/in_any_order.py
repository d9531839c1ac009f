"""Evictions that leave at once: only those whose replacements land in whatever order they come.

Each eviction was granted on top of those before it, as if they came one after another. A run evicts them within
milliseconds, and the order in which the scheduler takes the replacements is unknown. So what is evicted at once has
to land in every order: a part of the evictions where they are not carried out in waves, and otherwise a wave of them
after the other. The proof itself is `placement.batches.every_order`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import msgspec

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.eviction.request_check import Allowance, PodByPod, always
from descheduler.model.pod import Pod
from descheduler.model.text.counted import first_names
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move, PodIdentity, identity_of
from descheduler.policy.types import Profile

IN_SOME_ORDERS = refuse(
    Reason.ORDER_DEPENDENT,
    "it is not certain that the replacement pods can be scheduled in whatever order they are created",
)
"""Of pods that leave together or not at all."""
_MOST_CUTS = 12
"""How often what is not proven is left out before nothing more is tried."""
_MOST_TRIED = 24
"""How often something is added again."""
_MOST_NAMED = 3
_Unit = tuple[Pod, ...]
"""Pods that leave together or not at all; mostly one."""


class HeldBack(msgspec.Struct, frozen=True):
    """Pods that stay because of the order of the replacements: `pods`, each with the cause, and with `only` all that
    are not among these."""

    pods: Mapping[PodIdentity, str] = {}
    only: frozenset[PodIdentity] | None = None

    def with_more(self, causes: Mapping[Pod, str]) -> HeldBack:
        """The same, and these."""
        return HeldBack({**self.pods, **{identity_of(pod): cause for pod, cause in causes.items()}}, self.only)

    def but_for(self, pods: Iterable[Pod]) -> HeldBack:
        """All pods but these."""
        only = frozenset(map(identity_of, pods))
        return HeldBack({pod: cause for pod, cause in self.pods.items() if pod not in only}, only)

    def cause(self, pod: Pod) -> str:
        """Why `pod` stays; empty where that is known of no single pod."""
        return self.pods.get(identity_of(pod), "")

    def has(self, pod: Pod) -> bool:
        """Whether `pod` stays."""
        identity = identity_of(pod)
        return identity in self.pods or (self.only is not None and identity not in self.only)


NOTHING_HELD_BACK = HeldBack()


def largest_part(landings: LandingBook, moves: Sequence[Move], evicted: Iterable[Pod]) -> frozenset[Pod]:
    """The pods of `moves` that have to stay so that the replacements of all others land in every order.

    None of those `evicted`, who are among them, can stay, nor those of profiles that verify nothing. Of a few parts
    that are tried it is the one with the most pods of the first turn, and with these the most of the next.
    """
    with landings.without_moves():
        return _Parts(landings, moves, frozenset(evicted)).held_back()


def causes_of(landings: LandingBook, staying: frozenset[Pod]) -> dict[Pod, str]:
    """Why each of the pods `staying`, which are booked in `landings`, cannot leave with all others: which pods these
    are."""
    leaving = [pod for pod, _ in landings.leaving]
    nodes = {pod: landing.node for pod in staying if (landing := landings.landing_of(pod)) and landing.node}
    others = (pod for pod in leaving if pod not in staying)
    takers = landings.takers_of(tuple(dict.fromkeys(nodes.values())), others, _MOST_NAMED)
    found = dict.fromkeys(staying, "")
    for pod, node in nodes.items():
        rivals, number = takers[node]
        if number:
            whose = "replacement pod" if number == 1 else "replacement pods"
            named = first_names([rival.key for rival in rivals], _MOST_NAMED, number)
            found[pod] = f"the {whose} of {named} can take the last node of the replacement pod"
    return found


def later_waves(landings: LandingBook, moves: Sequence[Move]) -> Mapping[PodIdentity, int]:
    """The waves of `moves` that are carried out in waves: the replacements of each land in every order.

    They follow one another as the moves were granted, and a wave of the plan is never joined with another one. No move
    counts on room that another one of its wave gives up: that eviction may be refused when it is called.
    """
    asked, leaving = frozenset(landings.has_to_land()), [pod for pod, _ in landings.leaving]
    planned = {move.pod: move for move in moves}
    waves: dict[PodIdentity, int] = {}
    number = start = 0
    for _, group in groupby(
        _units(leaving, planned), key=lambda unit: planned[unit[0]].wave if unit[0] in planned else 0
    ):
        units = list(group)
        while units:
            taken = _longest_start(landings, units, asked, start)
            number, wave = number + 1, [pod for unit in units[:taken] for pod in unit]
            waves.update((identity_of(pod), number) for pod in wave)
            start, units = start + len(wave), units[taken:]
    return waves


def on_earlier_waves(
    landings: LandingBook, moves: Sequence[Move], waves: Mapping[PodIdentity, int]
) -> Mapping[PodIdentity, int]:
    """The pods of later `waves`, each with its wave, that are not proven to land unless the waves before have ended."""
    asked, leaving = frozenset(landings.has_to_land()), [pod for pod, _ in landings.leaving]
    found: dict[PodIdentity, int] = {}
    for unit in _units(leaving, {move.pod: move for move in moves}):
        wave = waves.get(identity_of(unit[0]), 1)
        own = [pod for pod in unit if pod in asked]
        for pod in landings.unproven(unit, own) if wave > 1 and own else ():
            found[identity_of(pod)] = wave
    return found


def _longest_start(landings: LandingBook, units: Sequence[_Unit], asked: frozenset[Pod], start: int) -> int:
    """How many of `units`, one at least, land in every order on top of the first `start` evictions."""

    def is_proven(number: int) -> bool:
        pods = [pod for unit in units[:number] for pod in unit]
        return landings.is_proven(pods, [pod for pod in pods if pod in asked], start, may_stay=True)

    if is_proven(len(units)):
        return len(units)
    proven, unproven = 1, len(units)
    while unproven - proven > 1:
        middle = (proven + unproven) // 2
        proven, unproven = (middle, unproven) if is_proven(middle) else (proven, middle)
    return proven


def _units(leaving: Iterable[Pod], planned: Mapping[Pod, Move]) -> list[_Unit]:
    """The pods in order, those of one bundle together."""
    units: dict[object, list[Pod]] = {}
    for pod in leaving:
        bundle = planned[pod].bundle if pod in planned else 0
        units.setdefault(bundle or pod, []).append(pod)
    return [tuple(unit) for unit in units.values()]


class _Parts:
    """Parts of all evictions that are booked in `landings`."""

    def __init__(self, landings: LandingBook, moves: Sequence[Move], evicted: frozenset[Pod]) -> None:
        self._landings = landings
        self._leaving = [pod for pod, _ in landings.leaving]
        planned = {move.pod: move for move in moves}
        self._units = _units(self._leaving, planned)
        asked = frozenset(landings.has_to_land())
        self._free = [unit for unit in self._units if asked.issuperset(unit) and evicted.isdisjoint(unit)]
        self._turns = {unit: max(planned[pod].turn for pod in unit) for unit in self._free}
        free = set(self._free)
        self._forced = frozenset(pod for unit in self._units if unit not in free for pod in unit)
        lost = self._forced & asked
        self._asked = asked - self._landings.unproven(self._in_order(()), list(lost)) if lost else asked
        self._num_left = 0
        self._known: dict[frozenset[Pod], bool] = {}
        """Whether each part is proven, as halves are joined to the whole that was asked about before."""

    def held_back(self) -> frozenset[Pod]:
        """The pods that can stay and are in no proven part, of the largest of the parts that were found."""
        part: list[_Unit] = []
        for turn in sorted(set(self._turns.values())):
            part = self._with_most_of(part, [unit for unit in self._free if self._turns[unit] == turn])
        kept = set(part)
        return frozenset(pod for unit in self._free if unit not in kept for pod in unit)

    def _with_most_of(self, part: list[_Unit], units: Sequence[_Unit]) -> list[_Unit]:
        """`part`, which is proven, with the most of `units` with which it was found to be."""
        whole = [*part, *units]
        unproven = self._unproven(whole)
        if not unproven:
            return whole
        # The pods for which others may leave no node, and what can go with them; or all others, and what can of these.
        # Where it is as many, the first: they are the ones that will find no node later.
        self._num_left = _MOST_TRIED
        hard = self._grown(self._extended(part, [unit for unit in units if not unproven.isdisjoint(unit)]), units)
        self._num_left = _MOST_TRIED
        easy = self._grown(self._cut(part, units, unproven), units)
        return max(hard, easy, key=lambda found: sum(map(len, found)))

    def _cut(self, part: list[_Unit], units: Sequence[_Unit], unproven: frozenset[Pod]) -> list[_Unit]:
        """`part` with `units` but for what is not proven, which is left out as often as it takes."""
        for _ in range(_MOST_CUTS):
            left = [unit for unit in units if unproven.isdisjoint(unit)]
            if len(left) == len(units):  # what is not proven is of `part` alone
                return part
            units, whole = left, [*part, *left]
            unproven = self._unproven(whole)
            if not unproven:
                return whole
        return part

    def _grown(self, part: list[_Unit], units: Sequence[_Unit]) -> list[_Unit]:
        """`part` with all of `units` that can be added to it."""
        known = set(part)
        return self._extended(part, [unit for unit in units if unit not in known])

    def _extended(self, part: list[_Unit], units: Sequence[_Unit]) -> list[_Unit]:
        """`part` with those of `units` with which all of it is proven, which are looked for in halves."""
        if not units or not self._num_left:
            return part
        self._num_left -= 1
        if self._is_proven([*part, *units]):
            return [*part, *units]
        if len(units) == 1:
            return part
        middle = len(units) // 2
        return self._extended(self._extended(part, units[:middle]), units[middle:])

    def _unproven(self, part: Sequence[_Unit]) -> frozenset[Pod]:
        pods = self._in_order(part)
        found = self._landings.unproven(pods, [pod for pod in pods if pod in self._asked])
        self._known[frozenset(pods)] = not found
        return found

    def _is_proven(self, part: Sequence[_Unit]) -> bool:
        pods = self._in_order(part)
        of_part = frozenset(pods)
        if of_part not in self._known:
            self._known[of_part] = self._landings.is_proven(pods, [pod for pod in pods if pod in self._asked])
        return self._known[of_part]

    def _in_order(self, part: Sequence[_Unit]) -> list[Pod]:
        """The pods of `part` and those that leave anyway, as they were granted."""
        pods = self._forced.union(*part)
        return [pod for pod in self._leaving if pod in pods]


_ORDER_DECIDES = "with this pod, the order of the replacement pods decides whether all of them can be scheduled"
_WAY_OUT = (
    "a later run evicts the pod if room is left for its replacement; a DeschedulerConfiguration can evict it in a "
    "later wave of the same run"
)
_NAME = f"the order of the replacements ({Reason.ORDER_DEPENDENT.code})"


class OrderCheck(PodByPod):
    """Refuses what is held back, in profiles that verify landings."""

    def __init__(self, profiles: Sequence[Profile], held_back: HeldBack) -> None:
        self._verifies = [verification_args(profile) is not None for profile in profiles]
        self._held_back = held_back

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the order of the replacements makes no difference."""
        if self._verifies[bundle.profile_index] and self._held_back.has(candidate.pod):
            cause = self._held_back.cause(candidate.pod) or _ORDER_DECIDES
            return refuse(Reason.ORDER_DEPENDENT, f"{cause}; {_WAY_OUT}")
        return ACCEPTED

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """None of what is held back, so that planners do not count on it."""
        if not self._verifies[profile_index] or self._held_back == NOTHING_HELD_BACK:
            return ()
        return (Allowance(lambda pod: True if self._held_back.has(pod) else None, lambda _: 0, name_of=always(_NAME)),)
