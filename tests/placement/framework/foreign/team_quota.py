"""TeamQuota: a team places so many pods out of its own share, and more out of a pool that all teams borrow from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args

TEAM = "team"
SHARED = 1
"""Pods that all teams together place out of the pool."""
_POOL = ""


class TeamQuotaSection(Args, frozen=True):
    """`TeamQuotaArgs`."""

    own: int = 1
    """Pods that each team places out of its own share."""


@dataclass(frozen=True)
class TeamQuotaArgs:
    """The share of each team."""

    own: int = 1


def _read(block: ArgsBlock, section: TeamQuotaSection) -> TeamQuotaArgs:
    if section.own < 0:
        block.fail(("own",), f"{section.own} is below 0")
    return TeamQuotaArgs(section.own)


class QuotaLedger:
    """Who pays for each pod placed since the snapshot was taken: its team, or the pool, named by an empty string."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self._used: Counter[str] = Counter()

    def payer(self, team: str, own: int) -> str | None:
        """Who would pay for the next pod of a team with a share of `own` pods; None when nobody can."""
        if self._used[team] < own:
            return team
        return _POOL if self._used[_POOL] < SHARED else None

    def reserve(self, cycle: Cycle, node: int) -> str | None:
        """Has the pod paid for; a pod that was not filtered may exceed the pool."""
        del node
        team = cycle.pod.pod.labels.get(TEAM)
        if team is None:
            return None
        payer = self.payer(team, _own_share(cycle))
        taken = _POOL if payer is None else payer
        self.restore(taken)
        return taken

    def restore(self, taken: str) -> None:
        """Has the same one pay again."""
        self._used[taken] += 1

    def release(self, taken: str) -> None:
        """Pays back."""
        self._used[taken] -= 1

    def fingerprint(self) -> object:
        """What everybody paid."""
        return sorted((payer, number) for payer, number in self._used.items() if number)


class TeamQuota:
    """Refuses pods that nobody can pay for."""

    name = "TeamQuota"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._own = profile.args.of(TeamQuotaArgs).own
        self.ledger = cluster.ledger(QuotaLedger)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods without a team alone."""
        cycle.scratch[self.name] = self._own
        return PreFilterResult() if TEAM in cycle.pod.pod.labels else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Every node, once nobody can pay."""
        is_paid = self.ledger.payer(cycle.pod.pod.labels[TEAM], self._own) is not None
        return None if is_paid else np.ones(len(cycle.cluster.table), dtype=np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That the quota is used up."""
        del node, bits
        return Obstacle(self.name, Code.UNSCHEDULABLE, (f"quota of team {cycle.pod.pod.labels[TEAM]} is used up",))


def _own_share(cycle: Cycle) -> int:
    """The share that the filter goes by; the usual one where it does not run."""
    own = cycle.scratch.get(TeamQuota.name)
    return own if isinstance(own, int) else TeamQuotaArgs().own


ROW = SchedulingPlugin(
    plugin=TeamQuota,
    points=frozenset({"pre_filter", "filter", "reserve"}),
    args=ArgsKind(TeamQuotaSection, _read, TeamQuotaArgs, lambda args: {"own": args.own}),
)
