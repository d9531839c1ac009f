"""ElasticQuota (koordinator 1.8): refuses pods whose quota would exceed what it may use.

The rules of its arguments are those of `pkg/scheduler/apis/config/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO, QuantityError, format_quantity, parse_quantity
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import BY_REQUESTS, GatheredPods, Interactions, Meeting
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.quota_forest import ForestSettings
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND, PodRules, QuotaUsage, UsageOf
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args, WithoutEffect

MaxAmounts = tuple[tuple[str, int], ...]
"""Resource and nano units, by name."""
BUILT_IN_MAX: MaxAmounts = tuple((name, (2**63 - 1) // 5 * NANO) for name in (CPU, MEMORY))
"""The max of the default and the system quota unless it is configured."""


class HookPluginSection(Args, frozen=True):
    """A plugin of the quota plugin."""

    key: WithoutEffect[str] = ""
    factory_key: WithoutEffect[str] = ""
    factory_args: WithoutEffect[str] = ""


class ElasticQuotaSection(Args, frozen=True):
    """`ElasticQuotaArgs` of koord-scheduler."""

    delay_evict_time: str | None = None
    """How long a quota may be over its runtime quota before pods are revoked, `2m0s` by default; without effect on
    where a pod fits, see the plugin RevokePodsOverElasticQuota."""
    revoke_pod_interval: str | None = None
    """How often koord-scheduler looks for pods to revoke, `1s` by default; without effect here."""
    default_quota_group_max: Mapping[str, str | int | float] = msgspec.field(default_factory=dict)
    """The max of the default quota where the cluster has no object for it."""
    system_quota_group_max: Mapping[str, str | int | float] = msgspec.field(default_factory=dict)
    """The max of the system quota where the cluster has no object for it."""
    quota_group_namespace: str = ""
    """Where koord-scheduler creates its own quotas, `koordinator-system` by default; without effect here."""
    monitor_all_quotas: bool | None = None
    """Whether koord-scheduler revokes pods, no by default; without effect here."""
    enable_check_parent_quota: bool | None = None
    """Whether the parents of a quota must have room too, no by default."""
    enable_runtime_quota: bool | None = None
    """Whether the runtime quota is the limit, yes by default; else it is max."""
    enable_min_quota_scale: bool | None = None
    """Whether mins are scaled down where there is too little for all of them, yes by default."""
    disable_default_quota_preemption: bool | None = None
    """Whether pods of the default quota are never preempted for others of it, yes by default."""
    enable_queue_hint: bool | None = None
    """How koord-scheduler wakes waiting pods, no by default; without effect here."""
    hook_plugins: tuple[HookPluginSection, ...] = ()
    """Plugins of the quota plugin; what they do is not modelled."""


class ElasticQuotaArgs(msgspec.Struct, frozen=True):
    """The arguments that decide about admission."""

    default_max: MaxAmounts = BUILT_IN_MAX
    system_max: MaxAmounts = BUILT_IN_MAX
    checks_parents: bool = False
    uses_runtime: bool = True
    scales_mins: bool = True
    spares_default: bool = True


def _read(block: ArgsBlock, section: ElasticQuotaSection) -> ElasticQuotaArgs:
    _check_duration(block, "delayEvictTime", section.delay_evict_time)
    _check_duration(block, "revokePodInterval", section.revoke_pod_interval)
    return ElasticQuotaArgs(
        default_max=_max(block, "defaultQuotaGroupMax", section.default_quota_group_max),
        system_max=_max(block, "systemQuotaGroupMax", section.system_quota_group_max),
        checks_parents=section.enable_check_parent_quota is True,
        uses_runtime=section.enable_runtime_quota is not False,
        scales_mins=section.enable_min_quota_scale is not False,
        spares_default=section.disable_default_quota_preemption is not False,
    )


def _check_duration(block: ArgsBlock, name: str, text: str | None) -> None:
    if text is None:
        return
    try:
        duration = parse_duration(text)
    except ValueError as error:
        block.fail((name,), str(error))
        return
    if duration.total_seconds() < 0:
        block.fail((name,), f"{text} is below 0")


def _max(block: ArgsBlock, name: str, amounts: Mapping[str, str | int | float]) -> MaxAmounts:
    found: dict[str, int] = {}
    for resource, amount in amounts.items():
        try:
            found[resource] = parse_quantity(str(amount))
        except QuantityError as error:
            block.fail((name, resource), str(error))
            continue
        if found[resource] < 0:
            block.fail((name, resource), f"{amount} is below 0")
    return tuple(sorted(found.items())) or BUILT_IN_MAX


def _shown(args: ElasticQuotaArgs) -> Mapping[str, object]:
    return {
        "defaultQuotaGroupMax": {name: format_quantity(nano) for name, nano in args.default_max},
        "systemQuotaGroupMax": {name: format_quantity(nano) for name, nano in args.system_max},
        "enableCheckParentQuota": args.checks_parents,
        "enableRuntimeQuota": args.uses_runtime,
        "enableMinQuotaScale": args.scales_mins,
        "disableDefaultQuotaPreemption": args.spares_default,
    }


ARGS = ArgsKind(ElasticQuotaSection, _read, ElasticQuotaArgs, _shown)


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
        return False

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None one node alone."""
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
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Never asked. Raises ValueError."""
        raise ValueError(f"{self.name} refuses no node")


ROW = SchedulingPlugin(
    plugin=ElasticQuotaPlugin,
    points=frozenset({"pre_filter", "post_filter", "reserve"}),
    args=ARGS,
    is_optional=True,
    preempts=True,
    reads_kinds=frozenset({ELASTIC_QUOTA_KIND}),
    about=About(
        check=(
            "The pods of an elastic quota must not request more than the quota may use now (koord-scheduler); pods "
            "that must not be preempted must not request more than its min."
        ),
        reasons=(
            "Insufficient quotas, quotaName: <quota>, runtime: <limit>, used: <amounts>, pod's request: <amounts>, "
            "exceedDimensions: [<resources>]",
            "Insufficient non-preemptible quotas, quotaName: <quota>, min: <limit>, nonPreemptibleUsed: <amounts>, "
            "pod's request: <amounts>, exceedDimensions: [<resources>]",
        ),
    ),
)
