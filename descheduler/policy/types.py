"""A policy as the rest of the program sees it: decoded, defaulted, validated and in running order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeVar, get_args

import msgspec

from descheduler.documents.decode import Path
from descheduler.documents.problems import DocumentProblem
from descheduler.model.selection.labels import LabelSelector
from descheduler.policy.plugin import SchedulerFile
from descheduler.policy.shared_args import LabelSelectorArg

_ArgsT = TypeVar("_ArgsT", bound=msgspec.Struct)

PolicyKind = Literal["DeschedulerPolicy", "DeschedulerConfiguration"]
Compatibility = Literal["upstream", "fixed"]
"""Whether defects of the reference that change decisions are reproduced."""
COMPATIBILITIES: tuple[Compatibility, ...] = get_args(Compatibility)


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """The arguments of one plugin, an instance of its `PluginSpec.args_type`, defaults filled in."""

    name: str
    args: msgspec.Struct
    args_path: Path = field(default=(), compare=False)
    """Where the arguments stand, such as `profiles[0].pluginConfig[1].args`; empty when the document has none."""
    threshold_place: tuple[int, int] | None = field(default=None, compare=False)
    """Line and column of the priority threshold, which can only be judged with a cluster at hand."""
    api_version: str = ""
    """What the arguments call themselves, with `kind`; without effect, and kept as the reference keeps it."""
    kind: str = ""


DEFAULT_QPS, DEFAULT_BURST = 5.0, 10
"""The pace of evictions where neither policy nor flags state one."""


class Profile(msgspec.Struct, frozen=True):
    """Plugins that run together. Each list is in running order; a plugin listed twice runs twice."""

    name: str
    plugin_configs: tuple[PluginConfig, ...] = ()
    """Every entry, in order; see `args` for the ones in use."""
    deschedule: tuple[str, ...] = ()
    balance: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    pre_eviction_filter: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    """Strategies that others of the profile run by themselves."""
    evict: tuple[str, ...] = ()
    """Empty for a DeschedulerPolicy, which evicts directly; else exactly one plugin."""
    node_selector: LabelSelector | None = None
    """Narrows the nodes for this profile only; None for a DeschedulerPolicy."""
    node_selector_spec: LabelSelectorArg | None = None
    """`node_selector` as written."""

    @property
    def args(self) -> Mapping[str, msgspec.Struct]:
        """The arguments in use by plugin name; of several entries for one plugin the first one counts."""
        return {config.name: config.args for config in reversed(self.plugin_configs)}

    def args_of(self, kind: type[_ArgsT], names: Iterable[str]) -> Iterator[_ArgsT]:
        """The arguments in use of those of `names` whose arguments are of this kind, in order."""
        args = self.args
        return (found for name in names if isinstance(found := args[name], kind))


class SecretReference(msgspec.Struct, frozen=True):
    """Where the token for Prometheus is kept."""

    namespace: str
    name: str


class MetricsProvider(msgspec.Struct, frozen=True):
    """A source of measured usage. Unknown sources load and are never used."""

    source: str
    prometheus_url: str = ""
    auth_token: SecretReference | None = None


class LeaderElection(msgspec.Struct, frozen=True):
    """Settings of the lease, as read."""

    leader_elect: bool
    lease_duration: timedelta
    renew_deadline: timedelta
    retry_period: timedelta
    resource_lock: str
    resource_name: str
    resource_namespace: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy document, ready to run."""

    kind: PolicyKind
    path: str
    """The file it came from, or `<policy>`."""
    profiles: tuple[Profile, ...] = ()
    node_selector: LabelSelector | None = None
    """Nodes handed to the plugins; None means all."""
    node_selector_spec: str | LabelSelectorArg | None = None
    """`node_selector` as written: a string in a DeschedulerPolicy, an object in a DeschedulerConfiguration."""
    max_evictions_per_node: int | str | None = None
    """Per cycle, a number or a percentage of pods; None is unlimited and 0 forbids all, here and in the next two."""
    max_evictions_per_namespace: int | str | None = None
    max_evictions_total: int | str | None = None
    eviction_failure_event_notification: bool = False
    grace_period_seconds: int | None = None
    """Passed on with every eviction, negative values too; None means the pod's own grace period."""
    metrics_collector_enabled: bool = False
    metrics_providers: tuple[MetricsProvider, ...] = ()
    dry_run: bool = False
    descheduling_interval: timedelta = timedelta(0)
    """Zero means one round."""
    kubeconfig: str = ""
    client_qps: float | None = None
    client_burst: int | None = None
    leader_election: LeaderElection | None = None
    """None when the document has no such settings."""
    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None
    enable_profiling: bool = False
    enable_contention_profiling: bool = False
    compatibility: Compatibility
    warnings: tuple[DocumentProblem, ...] = ()
    """What the reference would silently ignore, in document order."""
    digest: str
    """SHA-256 of the document, independent of layout, comments and the order of keys."""
    scheduler_files: Mapping[str, SchedulerFile] = msgspec.field(default_factory=dict)
    """Scheduler configurations that plugins name in their arguments, by the path as it is written there."""

    @property
    def evicts_in_waves(self) -> bool:
        """Whether evictions run in waves, each of them checked again right before; upstream has no such thing."""
        return self.kind == "DeschedulerConfiguration"


_DIGEST_LENGTH = 12


def memory_key(policy: Policy, profile: Profile, plugin: str) -> str:
    """`profile/plugin/digest`. The digest is of what the plugin's memory depends on: its arguments, and the nodes that
    it is given. The same after other parts of the policy have been edited.

    Two policies may name their profiles alike and keep their memory in one place.
    """
    facts = (policy.node_selector_spec, profile.node_selector_spec, profile.args[plugin])
    text = msgspec.json.encode(facts, enc_hook=repr, order="deterministic")
    return f"{profile.name}/{plugin}/{hashlib.sha256(text).hexdigest()[:_DIGEST_LENGTH]}"
