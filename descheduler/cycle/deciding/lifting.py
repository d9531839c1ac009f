"""The limits that stopped the plugins of a run, its policy without them, and an end to planning without limits.

That end is only for the report: it is counted in landings, so that the same input ends at the same pod.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, EvictionLimit, LimitReached, Verdict, limit_reached
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Refusal
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy, Profile

LIFTED_STAGES = (
    frozenset({EvictionLimit.TOTAL}),
    frozenset({EvictionLimit.TOTAL, EvictionLimit.NODE, EvictionLimit.PLUGIN_NODE}),
)
"""Limits that are lifted together. One of a namespace stops no plugin: all pods above it have been asked for."""


def is_stopped(decisions: Decisions, limits: AbstractSet[EvictionLimit]) -> bool:
    """Whether one of `limits` blocked a request."""
    return any(limit.limit in limits for limit in limits_reached(decisions.refusals))


def limits_reached(refusals: Iterable[Refusal]) -> Iterator[LimitReached]:
    """The limits that blocked requests."""
    for refusal in refusals:
        if refusal.verdict.reached is not None and not is_out_of_work(refusal.verdict):
            yield refusal.verdict.reached


def without_limits(policy: Policy, limits: AbstractSet[EvictionLimit], registry: Registry) -> Policy:
    """`policy` without these of its limits."""
    if EvictionLimit.TOTAL in limits:
        policy = replace(policy, max_evictions_total=None)
    if EvictionLimit.NODE in limits:
        policy = replace(policy, max_evictions_per_node=None)
    if EvictionLimit.PLUGIN_NODE in limits:
        policy = replace(
            policy, profiles=tuple(_without_plugin_limits(profile, registry) for profile in policy.profiles)
        )
    return policy


def _without_plugin_limits(profile: Profile, registry: Registry) -> Profile:
    configs = (
        dataclasses.replace(config, args=registry[config.name].without_limits(config.args))
        for config in profile.plugin_configs
    )
    return replace(profile, plugin_configs=tuple(configs))


_ENOUGH = limit_reached(LimitReached(EvictionLimit.TOTAL, 0))
"""Plugins stop at it as at the limit of the run. No report shows it."""


class WorkBound(PodByPod):
    """Refuses every request once `landings` has judged `most_judged` of them, about a millisecond each."""

    def __init__(self, landings: LandingBook, most_judged: int) -> None:
        self._landings = landings
        self._most_judged = most_judged

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether there is work left to be done."""
        return ACCEPTED if self._landings.num_judged < self._most_judged else _ENOUGH


def is_out_of_work(verdict: Verdict) -> bool:
    """Whether a request was refused by the bound, which says nothing about its pods."""
    return verdict.reached is _ENOUGH.reached
