"""Taints and tolerations (`k8s.io/component-helpers/scheduling/corev1`, 0.36)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from descheduler.model.labels import parse_int64

__all__ = ["NO_EXECUTE", "NO_SCHEDULE", "PREFER_NO_SCHEDULE", "Taint", "Toleration", "tolerates_all"]

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


_CANONICAL = re.compile(r"(0|-?[1-9][0-9]*)\Z")


def _compares(taint_value: str, operator: str, bound: str) -> bool:
    if not _CANONICAL.match(taint_value) or not _CANONICAL.match(bound):
        return False
    left, right = parse_int64(taint_value), parse_int64(bound)
    if left is None or right is None:
        return False
    return left < right if operator == "Lt" else left > right


def tolerates_all(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> bool:
    """Whether each of `taints` is covered by at least one of `tolerations`."""
    return all(any(toleration.tolerates(taint) for toleration in tolerations) for taint in taints)
