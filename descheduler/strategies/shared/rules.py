"""The rules by which strategies select pods: each with the words that say why a pod does not meet it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from descheduler.model.pod import Pod
from descheduler.plan.facts import NearestValue, Unit


class Rule(Protocol):
    """One rule. `key` is its name in the policy, or the field of the pod's spec that decides."""

    @property
    def key(self) -> str:
        """Its name."""

    @property
    def nearest(self) -> NearestValue | None:
        """What came nearest to a limit so far; None for a rule that measures nothing."""

    @property
    def nobody(self) -> str:
        """The sentence for a rule that all the rest failed."""

    def kept(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """The `pods` that meet it, in order."""

    def reason(self, pod: Pod) -> str:
        """Why a pod that meets it is to leave; empty when it says nothing about that."""

    def why_not(self, pod: Pod) -> str:
        """Why `pod` does not meet it; empty when it does."""


class Match(msgspec.Struct, frozen=True):
    """Pods that `is_met` says yes to, for a `reason`; `miss` gives the words for one that it says no to."""

    key: str
    is_met: Callable[[Pod], bool]
    miss: Callable[[Pod], str]
    nobody: str
    reason: Callable[[Pod], str] = lambda _: ""
    nearest: None = None

    def kept(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """The `pods` that meet it."""
        is_met = self.is_met
        return [pod for pod in pods if is_met(pod)]

    def why_not(self, pod: Pod) -> str:
        """Its words for `pod`."""
        return "" if self.is_met(pod) else self.miss(pod)


def found(key: str, find: Callable[[Pod], str | None], *, miss: Callable[[Pod], str], nobody: str) -> Match:
    """The rule that `find` finds something in a pod, which is the reason; None where there is nothing."""
    return Match(key, lambda pod: find(pod) is not None, miss, nobody, lambda pod: find(pod) or "")


@dataclass(slots=True)
class Bound:
    """Pods that measure `least` or more. `words` says a measure, `none` and `superlative` what it is about.

    `limit` is what the policy says, which is not `least` where a pod has to pass it.
    """

    key: str
    limit: int
    least: int
    measure: Callable[[Pod], int]
    unit: Unit
    words: Callable[[int], str]
    none: str
    superlative: str
    _highest: tuple[int, Pod] | None = field(default=None, init=False)

    @property
    def nearest(self) -> NearestValue | None:
        """The highest measure so far; None before any pod was measured."""
        if self._highest is None:
            return None
        value, pod = self._highest
        return NearestValue(self.key, self.limit, value, self.unit, pod.key)

    @property
    def nobody(self) -> str:
        """That no pod is high enough, and which is the highest."""
        if self._highest is None:
            return f"{self.none} ({self.key}: {self.limit})"
        value, pod = self._highest
        return f"{self.none}: the {self.superlative} is {pod.key}, {self.said(value)}"

    def kept(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """The `pods` that measure enough."""
        values = list(map(self.measure, pods))
        highest = max(values, default=0)
        if values and (self._highest is None or highest > self._highest[0]):
            self._highest = highest, pods[values.index(highest)]
        if highest < self.least:
            return ()
        return [pod for pod, value in zip(pods, values, strict=True) if value >= self.least]

    def reason(self, pod: Pod) -> str:
        """What `pod` measures, beside the limit."""
        return self.said(self.measure(pod))

    def why_not(self, pod: Pod) -> str:
        """What `pod` measures, beside the limit."""
        value = self.measure(pod)
        return "" if value >= self.least else self.said(value)

    def said(self, value: int) -> str:
        """A measure beside the limit."""
        return f"{self.words(value)} ({self.key}: {self.limit})"
