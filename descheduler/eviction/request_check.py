"""The seam of checks before an eviction: what the evictor asks, in order, of every bundle that it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import msgspec

from descheduler.eviction.undo import NOTHING_DONE, Undo, undo_all
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move


class RequestCheck(Protocol):
    """One thing that can block an eviction.

    A new one is a module with a class like this, and one row of `eviction.checks.table`. Of pods that earlier rounds
    have evicted it is not asked again; it adopts them before everything else.
    """

    def verdict(self, bundle: Bundle) -> Verdict:
        """Whether all of `bundle` may go, after everything charged so far. Changes no later answer."""

    def charge(self, bundle: Bundle) -> Undo:
        """Counts a bundle that all checks accept."""

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what was evicted earlier in this run."""


@runtime_checkable
class BundlingCheck(Protocol):
    """A check that accepts pods together which it refuses one by one."""

    def mates(self, bundle: Bundle) -> Sequence[Pod]:
        """The further pods with which it lets `bundle` go; none where it takes no more, or where nothing helps."""


def always(name: str) -> Callable[[Hashable], str]:
    """That the limit on every key is called `name`."""
    return lambda _: name


_UNNAMED = always("")


class Allowance(msgspec.Struct, frozen=True):
    """Of the pods with the same key at most `left(key)` may still go. A pod whose key is None does not count.

    Where shards of the cluster have to divide that, `divided` is what messages call it; "" where a shard has it alone.
    `name_of` says what the goal of a plan calls the limit on a key where it stops the plan; "" where it is not named,
    as neither another policy nor a later run gets further.
    """

    key_of: Callable[[Pod], Hashable | None]
    left: Callable[[Hashable], int]
    divided: str = ""
    name_of: Callable[[Hashable], str] = _UNNAMED


_Key = TypeVar("_Key", bound=Hashable)


def allowance_by_pod(
    key_of: Callable[[Pod], _Key | None],
    left: Callable[[_Key, Pod], int],
    divided: str = "",
    name_of: Callable[[_Key], str] = _UNNAMED,
) -> Allowance:
    """The allowance of which `left` is found by any of the pods with the key."""
    found: dict[Hashable, tuple[_Key, Pod]] = {}

    def noted(pod: Pod) -> _Key | None:
        key = key_of(pod)
        if key is not None:
            found.setdefault(key, (key, pod))
        return key

    return Allowance(noted, lambda key: left(*found[key]), divided, lambda key: name_of(found[key][0]))


@runtime_checkable
class CountingCheck(Protocol):
    """A check that lets a number of pods go, and can say before anything is asked for how many those are."""

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left to a profile of the policy after everything charged so far."""


@runtime_checkable
class ScopingCheck(Protocol):
    """A check that says of a pod by itself that the run never moves it, whatever else leaves."""

    def of_scope(self, pod: Pod) -> Verdict:
        """Whether the run may move `pod`."""


class PodByPod(ABC):
    """A check that judges each pod of a bundle on top of those before it."""

    @abstractmethod
    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether one candidate of `bundle` may go."""

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts one candidate of a bundle that goes."""
        del candidate, bundle
        return NOTHING_DONE

    def try_out(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts one candidate for as long as those after it are judged."""
        return self.take(candidate, bundle)

    def verdict(self, bundle: Bundle) -> Verdict:
        """The first refusal, else acceptance."""
        if len(bundle.candidates) == 1:
            return self.may_go(bundle.candidates[0], bundle)
        tried: list[Undo] = []
        try:
            for candidate in bundle.candidates:
                verdict = self.may_go(candidate, bundle)
                if not verdict.is_accepted:
                    return verdict
                tried.append(self.try_out(candidate, bundle))
            return ACCEPTED
        finally:
            undo_all(tried)()

    def charge(self, bundle: Bundle) -> Undo:
        """Counts all candidates, in order."""
        if len(bundle.candidates) == 1:
            return self.take(bundle.candidates[0], bundle)
        return undo_all(self.take(candidate, bundle) for candidate in bundle.candidates)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts nothing, as most checks do."""
        del moves
