"""Which Lease keeps the runs of a policy apart: what the command line says, else the policy, else its name."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from descheduler.kube.leases.settings import LeaseSettings, own_namespace
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.policy.koordinator.component_config import DEFAULT_LEADER_ELECTION
from descheduler.policy.run_name import run_name
from descheduler.policy.types import LeaderElection, Policy


class LeaseOptions(msgspec.Struct, frozen=True):
    """What was asked for in so many words; None leaves the choice to the policy.

    `is_wanted` False does without a Lease, True takes one even if the policy says `leaderElect: false`. Each `shard` of
    a cluster has a Lease of its own, and with it what has the name of the Lease.
    """

    name: str | None = None
    namespace: str | None = None
    duration_seconds: int | None = None
    is_wanted: bool | None = None
    shard: Shard = WHOLE_CLUSTER


def lease_settings(
    policy: Policy, options: LeaseOptions, *, find_namespace: Callable[[], str] = own_namespace
) -> LeaseSettings | None:
    """The Lease for a run of `policy`, None when none is wanted.

    Settings in `leaderElection` that are Koordinator's defaults count as not set: its namespace may not exist, and its
    15 seconds are made for a service that must be replaced at once.
    """
    election = policy.leader_election or DEFAULT_LEADER_ELECTION
    is_wanted = options.is_wanted
    if is_wanted is None:
        is_wanted = election.leader_elect
    if not is_wanted:
        return None
    name = options.shard.name(options.name or _unless_default(election, "resource_name") or run_name(policy))
    namespace = options.namespace or _unless_default(election, "resource_namespace") or find_namespace()
    duration_seconds = options.duration_seconds
    if duration_seconds is None and election.lease_duration != DEFAULT_LEADER_ELECTION.lease_duration:
        # The API takes whole seconds; rounded up, so that nobody takes the Lease over early.
        duration_seconds = max(1, -int(-election.lease_duration.total_seconds() // 1))
    if duration_seconds is None:
        return LeaseSettings(namespace, name)
    return LeaseSettings(namespace, name, duration_seconds)


def _unless_default(election: LeaderElection, part: str) -> str:
    text: str = getattr(election, part)
    return "" if text == getattr(DEFAULT_LEADER_ELECTION, part) else text
