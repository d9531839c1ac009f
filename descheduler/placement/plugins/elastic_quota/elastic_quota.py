"""ElasticQuota (koordinator 1.8): refuses pods whose quota would exceed what it may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import BY_REQUESTS, GatheredPods, Interactions, Meeting
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.args import ElasticQuotaArgs
from descheduler.placement.plugins.elastic_quota.quota_forest import ForestSettings
from descheduler.placement.plugins.elastic_quota.quota_usage import PodRules, QuotaUsage, UsageOf
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["ElasticQuotaPlugin", "make_admission", "usage_of"]


class _QuotaInteractions:
    """A placed pod takes of its own quota, and its request changes what every quota of its tree may use, on whatever
    node it is: mostly for the worse, but a parent that is asked for more also gets more, of which a child without
    requests of its own, or a scaled min, may have a part."""

    def __init__(self, usage: QuotaUsage) -> None:
        self._usage = usage

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether the quota of `pod` may refuse it at all."""
        return self._usage.can_be_refused(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether nothing is ever said against `pod`."""
        return not self._usage.can_be_refused(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Never: the pods that feel it are not local."""
        del pod
        return False

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None one node alone."""
        del gathered
        return ()

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether either may be refused, and both are charged in one tree."""
        accounts = self._usage.account_of(first), self._usage.account_of(second)
        if accounts[0] is None or accounts[1] is None or accounts[0].place.tree is not accounts[1].place.tree:
            return False
        return self._usage.can_be_refused(first) or self._usage.can_be_refused(second)

    def interacting(self, gathered: GatheredPods) -> Iterator[Meeting]:
        """All that are charged in one tree with those of them that may be refused."""
        may_be_refused = gathered.where(self._usage.can_be_refused)
        for places in gathered.filed(self._trees).values():
            refused = np.intersect1d(places, may_be_refused)
            yield from ((places, refused), (refused, places))

    def _trees(self, pod: Pod) -> Iterator[int]:
        """By identity the tree in which `pod` is charged, if any."""
        account = self._usage.account_of(pod)
        if account is not None:
            yield id(account.place.tree)


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


class ElasticQuotaPlugin:
    """Refuses pods everywhere before nodes are looked at; a quota knows no nodes."""

    name = "ElasticQuota"
    is_static = False
    interactions: Interactions

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(ElasticQuotaArgs)
        self.admission = make_admission(cluster, args)
        self._spares_default = args.spares_default
        self._usage = self.admission.usage
        self.interactions = BY_REQUESTS if self._usage.forest.is_idle else _QuotaInteractions(self._usage)

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
