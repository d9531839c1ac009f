"""Arguments of `ElasticQuota`, by the rules of koordinator 1.8 (`pkg/scheduler/apis/config/v1/defaults.go`)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.quantity import NANO, QuantityError, format_quantity, parse_quantity
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.text.duration import parse_duration
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.policy.shared_args import Args, WithoutEffect

__all__ = ["ARGS", "BUILT_IN_MAX", "ElasticQuotaArgs", "MaxAmounts"]

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
