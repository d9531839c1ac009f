"""What operators must see where pods that ask autoscalers not to evict them are not protected."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from descheduler.eviction.default_evictor.default_evictor import (
    DO_NOT_DISRUPT,
    DefaultEvictorArgs,
    effective_protections,
)
from descheduler.model.pod import STAYING_ANNOTATIONS, asks_to_stay
from descheduler.model.text.counted import counted
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.types import Policy, Profile

__all__ = ["staying_pod_notes"]


def staying_pod_notes(policy: Policy, moves: Iterable[Move], refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """A sentence where profiles without the protection select such pods: how many, and how many are evicted."""
    open_profiles = {profile.name for profile in policy.profiles if not _protects(profile)}
    evicted = {move.pod.uid for move in moves if move.profile in open_profiles and asks_to_stay(move.pod)}
    refused = {each.pod.uid for each in refusals if each.profile in open_profiles and asks_to_stay(each.pod)}
    selected = evicted | refused
    if not selected:
        return ()
    pods = counted(len(selected), "selected pod")
    have = "has" if len(selected) == 1 else "have"
    are = "is" if len(evicted) == 1 else "are"
    protected = f"to protect such pods, add {DO_NOT_DISRUPT} to podProtections.extraEnabled of DefaultEvictor"
    return (
        f"{pods} {have} the annotation {' or '.join(STAYING_ANNOTATIONS)}; {len(evicted)} {are} evicted: {protected}",
    )


def _protects(profile: Profile) -> bool:
    """Whether a DefaultEvictor of the profile, wherever it filters, protects such pods."""
    found = profile.args_of(DefaultEvictorArgs, chain(profile.filter, profile.pre_eviction_filter))
    return any(DO_NOT_DISRUPT in effective_protections(args) for args in found)
