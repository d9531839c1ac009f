"""RevokePodsOverElasticQuota: evicts pods of elastic quotas that use more than their runtime quota."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.kube_version import KubeVersion, KubeVersionError
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.duration import parse_duration
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args
from descheduler.strategies.revoke_pods_over_elastic_quota.victims import is_preemptible, least_important_first, victims
from descheduler.strategies.shared.pods import FINISHED

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.strategies.revoke_pods_over_elastic_quota.overuse import OverusedQuota, QuotaReview

BESIDE = {
    "PlacementVerification": (
        "PlacementVerification blocks most evictions of RevokePodsOverElasticQuota: a quota that is over its limit does"
        " not admit the replacement pod (ElasticQuota); enable them in different profiles"
    )
}
"""What the plugin does not go together with, in one profile: only pods that are not created again, or whose scheduler
knows no quota, pass both."""
_DELAY = "2m0s"
_KIND = "ElasticQuota.scheduling.sigs.k8s.io"


class RevokePodsOverElasticQuotaArgs(Args, frozen=True):
    """Arguments of RevokePodsOverElasticQuota.

    The replacement of a revoked pod stays pending until its quota has room, so PlacementVerification refuses such
    evictions: enable this plugin in a profile without it.
    """

    delay_evict_time: str | None = None
    """How long a quota must have been over its runtime quota, `2m0s` by default. Nothing is remembered between runs:
    the quota must be over it now, and with the pods alone that had been created by then."""
    quotas: tuple[str, ...] = ()
    """Names of the elastic quotas whose pods are examined; all when empty."""
    enable_min_quota_scale: bool | None = None
    """Whether mins are scaled down where there is too little for all of them, yes by default; as koord-scheduler is
    configured."""
    feature_gates: Mapping[str, bool] = msgspec.field(default_factory=dict)
    """Feature gates of koord-scheduler that are not off, such as `MultiQuotaTree`."""


def default_args(args: RevokePodsOverElasticQuotaArgs) -> RevokePodsOverElasticQuotaArgs:
    """`args` with every unset field that has a default filled in."""
    return msgspec.structs.replace(args, delay_evict_time=args.delay_evict_time or _DELAY)


def needs(_args: RevokePodsOverElasticQuotaArgs) -> Needs:
    """Elastic quotas."""
    return Needs(kinds=frozenset({_KIND}))


def validate_args(args: RevokePodsOverElasticQuotaArgs) -> list[ArgsProblem]:
    """Problems of `args`: what is no duration, or no feature gate."""
    problems = []
    try:
        if _delay(args) < timedelta(0):
            problems.append(ArgsProblem(("delayEvictTime",), f"{args.delay_evict_time} is below 0"))
    except ValueError as error:
        problems.append(ArgsProblem(("delayEvictTime",), str(error)))
    try:
        _version(args)
    except KubeVersionError as error:
        problems.append(ArgsProblem(("featureGates",), str(error)))
    return problems


class RevokePodsOverElasticQuota:
    """Mirrors the revocation of koord-scheduler 1.8 (`monitorAllQuotas`), as a job and by way of the evictor.

    The least important pods of a quota are asked for first, so that limits of the run leave the more important ones.
    """

    def __init__(self, args: RevokePodsOverElasticQuotaArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._now = handle.now
        self._review: QuotaReview | None = None
        self._overused: dict[str, OverusedQuota] = {}
        self._num_examined = self._num_selected = 0

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts, quota by quota, the pods on `nodes` that koord-scheduler would revoke; terminating ones are gone."""
        self._overused, self._num_examined, self._num_selected = self._reviewed(), 0, 0
        names = {node.name for node in nodes}
        for quota in self._overused.values():
            leaving = victims(least_important_first(quota.pods), quota.used, quota.limit)
            self._num_examined += len(quota.pods)
            self._num_selected += len(leaving)
            if not self._evict([pod for pod in leaving if pod.node_name in names], quota):
                return

    def facts(self) -> PluginFacts:
        """How many quotas there are, and how many of them use more than they may."""
        num_quotas = 0 if self._review is None else self._review.num_quotas
        counts = {"quotas": num_quotas, "overusedQuotas": len(self._overused)}
        why = "" if self._num_selected else self._why_nothing(num_quotas)
        return PluginFacts(why, self._num_examined, self._num_selected, counts=counts)

    def why_not(self, pod: Pod) -> str:
        """That its quota is not over its runtime quota, that it may not be revoked, or that others are enough."""
        if pod.is_terminal or pod.is_terminating:
            return FINISHED if pod.is_terminal else "the pod is terminating"
        name = "" if self._review is None else self._review.quota_of(pod)
        if not name:
            return "the pod has no elastic quota"
        if name not in self._overused:
            return f"elastic quota {name} is not over its runtime quota {self._for_how_long}"
        if not is_preemptible(pod):
            return "label quota.scheduling.koordinator.sh/preemptible is false"
        return f"revoking other pods is enough for elastic quota {name}"

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """What its quota uses: the pod takes what the other has left, under a scheduler that does not check quotas."""
        quota = None if self._review is None else self._overused.get(self._review.quota_of(arrival))
        return "" if quota is None or not is_preemptible(arrival) else _reason(quota)

    @property
    def _for_how_long(self) -> str:
        return f"(delayEvictTime: {self._args.delay_evict_time})"

    def _reviewed(self) -> dict[str, OverusedQuota]:
        """The quotas that are over their runtime quota, and have been for long enough."""
        from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuotaArgs, usage_of
        from descheduler.strategies.revoke_pods_over_elastic_quota.overuse import QuotaReview

        args = ElasticQuotaArgs(scales_mins=self._args.enable_min_quota_scale is not False)
        usage = usage_of(args, _version(self._args))
        self._review = QuotaReview(self._view, usage)
        before = QuotaReview(self._view, usage, until=self._now - _delay(self._args))
        long_overused = {quota.name for quota in before.overused()}
        wanted = long_overused & set(self._args.quotas) if self._args.quotas else long_overused
        return {quota.name: quota for quota in self._review.overused() if quota.name in wanted}

    def _evict(self, pods: Sequence[Pod], quota: OverusedQuota) -> bool:
        """Asks for `pods`; returns whether the plugin goes on after it."""
        reason = _reason(quota)
        for pod in pods:
            is_admitted = self._evictor.lets_go(pod, reason)
            if is_admitted and self._evictor.request(pod, reason).limit is EvictionLimit.TOTAL:
                return False
        return True

    def _why_nothing(self, num_quotas: int) -> str:
        if not num_quotas:
            return "the cluster has no elastic quota"
        if not self._overused:
            return f"none of {counted(num_quotas, 'elastic quota')} is over its runtime quota {self._for_how_long}"
        return f"no pod of {counted(len(self._overused), 'elastic quota')} over their runtime quota may be revoked"


def _reason(quota: OverusedQuota) -> str:
    return f"elastic quota {quota.name} uses more than its runtime quota: {quota.excess}"


def _delay(args: RevokePodsOverElasticQuotaArgs) -> timedelta:
    """Raises ValueError."""
    return parse_duration(args.delay_evict_time or _DELAY)


def _version(args: RevokePodsOverElasticQuotaArgs) -> KubeVersion:
    """Raises KubeVersionError for a gate that is not known."""
    return KubeVersion().with_gates(args.feature_gates)
