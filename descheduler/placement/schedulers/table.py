"""The schedulers that are modelled: one table, a row for each of them. Importing it imports none of their code."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.placement.schedulers import koord_scheduler, kube_scheduler, volcano
from descheduler.placement.schedulers.row import SchedulerRow

__all__ = ["ALWAYS_ASSUMED", "ASSUMED", "SCHEDULERS"]

SCHEDULERS: Mapping[str, SchedulerRow] = {
    row.name: row for row in (kube_scheduler.ROW, koord_scheduler.ROW, volcano.ROW)
}
"""By the name that pods give. A document sets up further ones that are made of kube-scheduler."""

ASSUMED = tuple(name for name, row in SCHEDULERS.items() if row.is_assumed and row.model is None)
"""Those made of kube-scheduler whose pods are checked although nothing names them, unless a policy names others."""

ALWAYS_ASSUMED = tuple(name for name, row in SCHEDULERS.items() if row.is_assumed and row.model is not None)
"""The schedulers of another kind whose pods are checked whatever a policy names."""
