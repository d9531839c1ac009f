"""Evictors over small clusters, with the program's own checks and any limits, and requests of one pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from descheduler.eviction.background import Answers, BackgroundEvictions
from descheduler.eviction.checks.budgets import BudgetCheck
from descheduler.eviction.checks.known_answers import KnownAnswerCheck, StoredPodCheck
from descheduler.eviction.checks.limits import EvictionCounters, LimitCheck, RunLimits
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.request_check import RequestCheck
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict
from descheduler.plan.bundles import Bundle, Candidate

UNLIMITED = RunLimits()


@dataclass(frozen=True)
class Setting:
    """An evictor, and what it counts."""

    evictor: Evictor
    counters: EvictionCounters


def make_setting(
    view: ClusterView,
    limits: RunLimits = UNLIMITED,
    *further: RequestCheck,
    answers: Answers | None = None,
    evictions_in_background: bool = False,
    **options: Any,
) -> Setting:
    """The checks that need no policy, and `further` ones after them."""
    background = BackgroundEvictions(view.snapshot, answers, is_enabled=evictions_in_background)
    limit = LimitCheck(limits, background)
    known, budget = (check(view.snapshot, background) for check in (KnownAnswerCheck, BudgetCheck))
    own = (StoredPodCheck(), limit, known, budget, *further)
    return Setting(Evictor(view, own, background=background, **options), limit.counters)


def make_evictor(view: ClusterView, limits: RunLimits = UNLIMITED, *further: RequestCheck, **options: Any) -> Evictor:
    """The evictor alone."""
    return make_setting(view, limits, *further, **options).evictor


def ask(evictor: Evictor, *pods: Pod, profile: str = "p", plugin: str = "q", reason: str = "") -> Verdict:
    """One request, for all of `pods` or none."""
    return evictor.request(Bundle(profile, plugin, tuple(Candidate(pod, reason) for pod in pods)))
