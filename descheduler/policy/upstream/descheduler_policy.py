"""Documents of kind DeschedulerPolicy (`descheduler/v1alpha2`), as kubernetes-sigs/descheduler 0.36 reads them.

The outer document is lenient: unknown fields are ignored there, and become warnings here. Arguments are strict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from descheduler.documents.decode import Strictness
from descheduler.documents.source import digest_of
from descheduler.model.selection.labels import LabelError, LabelSelector, parse_selector
from descheduler.policy.checks import Checks, check_eviction_limits, compatibility_of
from descheduler.policy.plugin import Registry
from descheduler.policy.plugin_packages import of_kind
from descheduler.policy.shared_args import Args, Int64, UIntOrPercent, one_of
from descheduler.policy.types import COMPATIBILITIES, Policy
from descheduler.policy.upstream.metrics_providers import (
    MetricsCollectorSection,
    MetricsProviderSection,
    read_providers,
)
from descheduler.policy.upstream.profile import ProfileReader, ProfileSection

_CONVERSION = "convert the strategies to profiles, see docs/how-to/from-upstream.md"
_STRATEGIES = "strategies"


class DeschedulerPolicySection(Args, frozen=True):
    """The document as written; `compatibility` is this program's own field.

    What may be None is a pointer in the reference, which a null under a repeated key of JSON takes away.
    """

    api_version: str = ""
    """`descheduler/v1alpha2`."""
    kind: str = ""
    """`DeschedulerPolicy`."""
    profiles: tuple[ProfileSection, ...] = ()
    """Sets of plugins with their arguments; all of them run, in this order."""
    node_selector: str | None = None
    """Labels of the nodes that plugins look at, such as `pool=general`; all nodes when unset."""
    max_no_of_pods_to_evict_per_node: UIntOrPercent | None = None
    """Pods that may be evicted from one node in a run; no limit when unset, none with 0. A percentage such as `10%` is
    one of the pods of the node that have not finished, rounded down, and at least 1."""
    max_no_of_pods_to_evict_per_namespace: UIntOrPercent | None = None
    """Pods that may be evicted in one namespace in a run; no limit when unset, none with 0. A percentage is one of the
    pods of the namespace."""
    max_no_of_pods_to_evict_total: UIntOrPercent | None = None
    """Pods that may be evicted in a run; no limit when unset, none with 0. A percentage is one of all pods."""
    eviction_failure_event_notification: bool | None = None
    """Whether an Event is written for each eviction that the API server refuses."""
    grace_period_seconds: Int64 | None = None
    """Seconds that evicted pods have to end; the pod's own grace period when unset."""
    metrics_collector: MetricsCollectorSection | None = None
    """Deprecated: use `metricsProviders` with source `KubernetesMetrics`."""
    metrics_providers: tuple[MetricsProviderSection, ...] = ()
    """Where usage of nodes and pods comes from."""
    compatibility: Annotated[str, one_of(COMPATIBILITIES)] = ""
    """`fixed` does not reproduce upstream's defects that change decisions; `upstream`, the default, does."""


def policy_keys() -> frozenset[str]:
    """The keys of a policy in lower case, those of older versions included."""
    known = (field.encode_name for field in msgspec.structs.fields(DeschedulerPolicySection))
    return frozenset(key.casefold() for key in (*known, _STRATEGIES))


def read_descheduler_policy(checks: Checks, registry: Registry) -> Policy:
    """The policy in the document of `checks`, which collects what is wrong with it."""
    document = checks.load.document
    _warn_of_strategies(checks)
    section = checks.load.partial(document.root, DeschedulerPolicySection, (), Strictness("warning", "warning"))
    check_eviction_limits(checks, section)
    known = of_kind(registry, lambda spec: not spec.native)
    compatibility = compatibility_of(checks, section.compatibility, "upstream")
    collector = section.metrics_collector or MetricsCollectorSection()
    return Policy(
        kind="DeschedulerPolicy",
        path=document.path,
        profiles=tuple(
            ProfileReader(checks, profile, index, known, compatibility).read()
            for index, profile in enumerate(section.profiles)
        ),
        node_selector=_compile_node_selector(checks, section.node_selector),
        node_selector_spec=section.node_selector or None,
        max_evictions_per_node=section.max_no_of_pods_to_evict_per_node,
        max_evictions_per_namespace=section.max_no_of_pods_to_evict_per_namespace,
        max_evictions_total=section.max_no_of_pods_to_evict_total,
        eviction_failure_event_notification=section.eviction_failure_event_notification or False,
        grace_period_seconds=section.grace_period_seconds,
        metrics_collector_enabled=collector.enabled,
        metrics_providers=read_providers(checks, section.metrics_providers, collector),
        compatibility=compatibility,
        digest=digest_of(document),
    )


def _warn_of_strategies(checks: Checks) -> None:
    """Says more of the old field than that it is unknown: a policy that has only that field evicts nothing."""
    root = checks.load.document.root
    member = root.value.get(_STRATEGIES) if isinstance(root.value, Mapping) else None
    if member is not None:
        message = f"is a field of descheduler/v1alpha1, ignored; {_CONVERSION}"
        checks.load.warn((_STRATEGIES,), member.key_mark, message)


def _compile_node_selector(checks: Checks, text: str | None) -> LabelSelector | None:
    if not text:
        return None
    try:
        return parse_selector(text)
    except LabelError as error:
        checks.fail_build(("nodeSelector",), str(error))
        return None


def empty_policy(checks: Checks) -> Policy:
    """The policy that the reference reads from a document without `apiVersion`: none of its fields count.

    It looks for the fields of its internal type there, whose names are spelt differently.
    """
    document = checks.load.document
    if document.root.value is None:
        checks.warn((), "is empty, so nothing runs")
    else:
        message = (
            "apiVersion is missing, so every field is ignored and nothing runs, as in kubernetes-sigs/descheduler; "
            "add 'apiVersion: descheduler/v1alpha2'"
        )
        checks.warn((), message)
    return Policy(
        kind="DeschedulerPolicy",
        path=document.path,
        compatibility="upstream",
        digest=digest_of(document),
    )
