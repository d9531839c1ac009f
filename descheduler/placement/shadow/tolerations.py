"""Tolerations as the scheduler of a given release honours them."""

from __future__ import annotations

from descheduler.model.kube_version import KubeVersion
from descheduler.model.selection.taints import Toleration

__all__ = ["honoured_tolerations"]

_GATE = "TaintTolerationComparisonOperators"


def honoured_tolerations(tolerations: tuple[Toleration, ...], version: KubeVersion) -> tuple[Toleration, ...]:
    """`tolerations` without those that never tolerate, since their `Gt` or `Lt` is behind a gate that is off."""
    if version.gate(_GATE):
        return tolerations
    kept = tuple(toleration for toleration in tolerations if toleration.operator not in ("Gt", "Lt"))
    return tolerations if len(kept) == len(tolerations) else kept
