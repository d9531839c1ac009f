"""What a run is asked for, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import ReachedGoal
from descheduler.plan.moves import Move
from descheduler.plan.search_watch import UNWATCHED, SearchWatch

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.retry import RetryPolicy
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.plan.outcome import Outcome
    from descheduler.policy.types import Policy
    from descheduler.report.plan.file import PlanFile
    from descheduler.supervision import Watch

EVICTIONS_IN_BACKGROUND = "EvictionsInBackground"
"""The feature gate under which another controller may carry an eviction out."""
MOST_ASSESSED = 1000
"""Evictions of a plain upstream policy whose landings are looked up for the report; each takes about a millisecond."""


class ConnectionOptions(msgspec.Struct, frozen=True):
    """How to reach the cluster, as kubectl takes it; `request_timeout_seconds` bounds each whole answer."""

    kubeconfig: str | None = None
    context: str | None = None
    as_user: str | None = None
    request_timeout_seconds: float = 30.0

    def kubeconfig_with(self, policy: Policy | None) -> str | None:
        """The kubeconfig that is named, that of `policy` otherwise; None where neither names one."""
        return self.kubeconfig or (None if policy is None else policy.kubeconfig) or None

    def connect(self, policy: Policy | None = None, retry: RetryPolicy | None = None) -> KubeClient:
        """A client of the cluster, for the caller to close. Raises as `descheduler.kube.client.connect`."""
        from descheduler.kube.client import connect  # dry runs on a dump must not pay for it

        kubeconfig = self.kubeconfig_with(policy)
        return connect(kubeconfig, self.context, self.as_user, self.request_timeout_seconds, retry=retry)

    def connect_in_time(self, policy: Policy, watch: Watch) -> KubeClient:
        """The same, for calls that end with the time of `watch`. Raises RunStopped when it is over before."""
        from descheduler.kube.retry import RetryPolicy

        retry = RetryPolicy(sleep=watch.sleep)
        return watch.call("loading the kubeconfig and its credentials", lambda: self.connect(policy, retry))


class PlanToApply(msgspec.Struct, frozen=True):
    """A plan file, how old its snapshot may be, and whether moves that changed are left out instead of refusing all.

    With `reselects` the plugins of the policy have to select the pods still, and these to have the same labels.
    """

    file: PlanFile
    max_age: timedelta
    allows_partial: bool = False
    reselects: bool = True


class RunOptions(msgspec.Struct, frozen=True):
    """How one live run goes. `qps` and `burst` pace evictions; None leaves the choice to the policy, then 5 and 10.

    `lease` None takes no Lease; a dry run, which changes nothing, takes none either. For `most_assessed` see `decide`;
    None stands for `MOST_ASSESSED` in a dry run and for 0 in a run that evicts, which reads no more than it needs.
    `apply` is a plan that is carried out in place of what the plugins select. With `identifies_cluster` the result
    says which cluster it was. `search` looks on at planners. `assumed` are objects that a dry run takes to have been
    created. For `observe_seconds` after the evictions a run looks for their replacements.
    """

    dry_run: bool = False
    feature_gates: Mapping[str, bool] = msgspec.field(default_factory=dict)
    qps: float | None = None
    burst: int | None = None
    skip_broken: bool = False
    lease: LeaseOptions | None = None
    scope: Scope = EVERYWHERE
    shard: Shard = WHOLE_CLUSTER
    most_assessed: int | None = None
    apply: PlanToApply | None = None
    identifies_cluster: bool = False
    search: SearchWatch = UNWATCHED
    assumed: Sequence[Mapping[str, object]] = ()
    observe_seconds: float = 0.0


class RunResult(msgspec.Struct, frozen=True):
    """What a live run decided and did; no outcomes in a dry run. `guard` says what stopped it early, else it is "".

    `signal_number` is that of the signal that did, None when it was something else. `cluster_uid` is that of the
    namespace kube-system, where that was asked for and can be read. `is_partial` says that moves of the plan that was
    applied have been left out, because they had changed. `for_users` is what became of PodMigrationJobs of users, for
    which the pods `evicted_for_users` have left, or may have. `goals` is what planners have come to.
    """

    decisions: Decisions
    outcomes: tuple[Outcome, ...] = ()
    guard: str = ""
    signal_number: int | None = None
    cluster_uid: str = ""
    is_partial: bool = False
    for_users: tuple[Outcome, ...] = ()
    evicted_for_users: tuple[Move, ...] = ()
    goals: tuple[ReachedGoal, ...] = ()

    @property
    def all_outcomes(self) -> tuple[Outcome, ...]:
        """Of everything that was asked for in the run, by users and by plugins; in the order in which it was done."""
        return (*self.for_users, *self.outcomes)
