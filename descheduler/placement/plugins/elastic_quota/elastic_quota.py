"""ElasticQuota (koordinator 1.8): refuses pods whose quota would exceed what it may use."""

from __future__ import annotations

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import BY_REQUESTS, Interactions
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.args import ElasticQuotaArgs
from descheduler.placement.plugins.elastic_quota.interactions import QuotaInteractions
from descheduler.placement.plugins.elastic_quota.quota_forest import ForestSettings
from descheduler.placement.plugins.elastic_quota.quota_usage import PodRules, UsageOf
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["ElasticQuota", "make_admission", "usage_of"]


def usage_of(args: ElasticQuotaArgs, version: KubeVersion) -> UsageOf:
    """What makes the charges of pods, by the arguments, and by the feature gates that `version` holds."""
    gate = version.gate
    settings = ForestSettings(
        default_max=args.default_max,
        system_max=args.system_max,
        uses_runtime=args.uses_runtime,
        scales_mins=args.scales_mins,
        has_trees=gate("MultiQuotaTree"),
        guarantees_usage=gate("ElasticQuotaGuaranteeUsage"),
        has_default=not gate("DisableDefaultQuota"),
    )
    rules = PodRules(
        ignores_overhead=gate("ElasticQuotaIgnorePodOverhead"),
        ignores_terminating=gate("ElasticQuotaImmediateIgnoreTerminatingPod"),
        ignores_overdue=gate("ElasticQuotaIgnoreTerminatingPod"),
    )
    return UsageOf(settings, rules)


def make_admission(cluster: ShadowCluster, args: ElasticQuotaArgs) -> QuotaAdmission:
    """Who admits pods to the quotas of `cluster`."""
    return QuotaAdmission(cluster.follow(usage_of(args, cluster.version)), checks_parents=args.checks_parents)


class ElasticQuota:
    """Refuses pods everywhere before nodes are looked at; a quota knows no nodes."""

    name = "ElasticQuota"
    is_static = False
    interactions: Interactions

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(ElasticQuotaArgs)
        self.admission = make_admission(cluster, args)
        self._spares_default = args.spares_default
        self._usage = self.admission.usage
        self.interactions = BY_REQUESTS if self._usage.forest.is_idle else QuotaInteractions(self._usage)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses a pod whose quota, or with `enableCheckParentQuota` a parent of it, has no room."""
        pod = cycle.pod.pod
        account = self._usage.account_of(pod) if self._usage.can_be_refused(pod) else None
        if account is None:
            return SKIP
        shortage = self.admission.shortage(account)
        if shortage is None:
            return PASS
        return PreFilterResult(obstacle=Obstacle.of(self.name, Code.UNSCHEDULABLE, shortage))

    def may_preempt(self, pod: Pod, other: Pod) -> bool:
        """Whether both have the same quota, `other` may be preempted, and the default quota is not spared."""
        own, others = self._usage.account_of(pod), self._usage.account_of(other)
        if own is None or others is None or own.place is not others.place or others.is_fixed:
            return False
        return not (self._spares_default and own.place.quota.name == DEFAULT_QUOTA)

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nothing."""
        del cycle
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Never asked. Raises ValueError."""
        raise ValueError(f"{self.name} refuses no node")
