"""Taints and tolerations (`k8s.io/component-helpers/scheduling/corev1`, 0.36)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from descheduler.model.selection.labels import parse_int64

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"


class Taint(msgspec.Struct, frozen=True, gc=False):
    """A mark on a node that repels pods."""

    key: str
    value: str = ""
    effect: str = ""


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A pod's consent to taints. Empty key or effect stand for any; `toleration_seconds` never decides a match."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration covers `taint`. The key counts whatever the operator says, as upstream has it."""
        if (self.effect and self.effect != taint.effect) or (self.key and self.key != taint.key):
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case "Lt" | "Gt":
                return _compares(taint.value, self.operator, self.value)
            case _:
                return False


class Tolerance:
    """What a list of tolerations covers together, filed by key and effect: a pod may state thousands of them."""

    __slots__ = ("_any_value", "_bounds", "_values")

    def __init__(self, tolerations: Iterable[Toleration]) -> None:
        self._any_value: set[tuple[str, str]] = set()
        self._values: set[tuple[str, str, str]] = set()
        self._bounds: dict[tuple[str, str, str], int] = {}
        for toleration in tolerations:
            place = toleration.key, toleration.effect
            match toleration.operator:
                case "" | "Equal":
                    self._values.add((*place, toleration.value))
                case "Exists":
                    self._any_value.add(place)
                case "Lt" | "Gt":
                    self._add_bound((*place, toleration.operator), toleration.value)

    def tolerates(self, taint: Taint) -> bool:
        """Whether one of the tolerations covers `taint`."""
        for place in ((taint.key, taint.effect), ("", taint.effect), (taint.key, ""), ("", "")):
            if place in self._any_value or (*place, taint.value) in self._values:
                return True
            if self._bounds and self._is_within(place, taint.value):
                return True
        return False

    def tolerates_all(self, taints: Iterable[Taint]) -> bool:
        """Whether each of `taints` is covered by one of the tolerations."""
        return all(map(self.tolerates, taints))

    def _add_bound(self, place: tuple[str, str, str], text: str) -> None:
        """Of several bounds the loosest decides: some taint value is below one of them when it is below the highest."""
        bound = _canonical_int64(text)
        if bound is not None:
            loosest = max if place[2] == "Lt" else min
            self._bounds[place] = loosest(bound, self._bounds.get(place, bound))

    def _is_within(self, place: tuple[str, str], text: str) -> bool:
        number = _canonical_int64(text)
        if number is None:
            return False
        highest, lowest = self._bounds.get((*place, "Lt")), self._bounds.get((*place, "Gt"))
        return (highest is not None and number < highest) or (lowest is not None and number > lowest)


_CANONICAL = re.compile(r"(0|-?[1-9][0-9]*)\Z")


def _compares(taint_value: str, operator: str, bound: str) -> bool:
    left, right = _canonical_int64(taint_value), _canonical_int64(bound)
    if left is None or right is None:
        return False
    return left < right if operator == "Lt" else left > right


def tolerates_all(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> bool:
    """Whether each of `taints` is covered by at least one of `tolerations`."""
    return Tolerance(tolerations).tolerates_all(taints)


def seconds_tolerated(tolerations: Iterable[Toleration], taint: Taint) -> int | None:
    """For how many seconds a taint of effect NoExecute of a device is tolerated: 0 for not at all, None for ever.

    As kube-controller-manager has it (1.36, 1.37, `pkg/controller/devicetainteviction`): only tolerations that name the
    effect count, though the scheduler takes one without effect for any, and of several times the shortest.
    """
    matching = [each.toleration_seconds for each in tolerations if each.effect == NO_EXECUTE and each.tolerates(taint)]
    times = [max(0, seconds) for seconds in matching if seconds is not None]
    return None if matching and not times else min(times, default=0)


def _canonical_int64(text: str) -> int | None:
    """`text` as an int64 if it is written without plus sign and leading zeros, which these operators ask for."""
    return parse_int64(text) if _CANONICAL.match(text) else None
