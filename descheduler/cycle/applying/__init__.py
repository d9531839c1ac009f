"""Whether a plan from a file still holds: the same cluster and policy, fresh, and every move as it was judged."""

from __future__ import annotations

from descheduler.cycle.applying.changes import PlanRefusedError
from descheduler.cycle.applying.identity import check_identity, cluster_uid
from descheduler.cycle.applying.judging import still_valid
from descheduler.cycle.applying.selection import Reselection

__all__ = ["PlanRefusedError", "Reselection", "check_identity", "cluster_uid", "still_valid"]
