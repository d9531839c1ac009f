"""The configuration of the scheduler that will place the pods: a `KubeSchedulerConfiguration` document.

Read as kube-scheduler 1.36 reads it (`cmd/kube-scheduler/app/options/configfile.go`, `pkg/scheduler/apis/config`):
every field is strict, and what would keep it from starting is an error here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from descheduler.documents.decode import Strictness
from descheduler.documents.document import Document, TreeNode, find, kind_of
from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean, shown
from descheduler.documents.source import read_document
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.extenders import Extender, ExtenderSection, read_extenders
from descheduler.placement.configuration.kube_scheduler.plugin_args import (
    SCHEDULER_API_VERSION,
    Percent,
    PluginSettings,
)
from descheduler.placement.configuration.kube_scheduler.profile import (
    SchedulerProfile,
    SchedulerProfileReader,
    SchedulerProfileSection,
)
from descheduler.policy.checks import Checks, in_order
from descheduler.policy.koordinator.component_config import ClientConnectionSection, LeaderElectionSection
from descheduler.policy.shared_args import Args, Int32, Int64

DEFAULT_SCHEDULER_NAME = "default-scheduler"
"""The scheduler of pods that name none."""
_KIND = "KubeSchedulerConfiguration"
_FEWEST_NODES = 100
_NOTHING_ELSE: Mapping[str, KubeVersion] = {}
_LOWEST_PERCENTAGE = 5


class SchedulerConfigurationSection(Args, frozen=True):
    """The document as written; settings of the process itself are read only for their spelling."""

    api_version: str = ""
    kind: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElectionSection = LeaderElectionSection()
    client_connection: ClientConnectionSection = ClientConnectionSection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Percent | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: tuple[SchedulerProfileSection, ...] = ()
    extenders: tuple[ExtenderSection, ...] = ()
    delay_cache_until_active: bool = False


class SchedulerConfiguration(msgspec.Struct, frozen=True):
    """What kube-scheduler was told, as far as placement hangs on it."""

    profiles: tuple[SchedulerProfile, ...]
    """At least one; no two have the same scheduler name."""
    percentage_of_nodes_to_score: int = 0
    """0 to 100, for profiles that do not say; 0 stands for a share that falls with the number of nodes."""
    extenders: tuple[Extender, ...] = ()
    """Asked for the pods of every profile, in this order."""
    warnings: tuple[DocumentProblem, ...] = ()
    """What makes placements unknown or has no effect, in document order."""
    others: Mapping[str, object] = msgspec.field(default_factory=dict)
    """What schedulers that are not made of kube-scheduler were told, by their names; see `SchedulerRow`."""

    def profile_for(self, scheduler_name: str) -> SchedulerProfile | None:
        """The profile of pods with this `spec.schedulerName`, empty for the default; None when it has none for them."""
        wanted = scheduler_name or DEFAULT_SCHEDULER_NAME
        return next((profile for profile in self.profiles if profile.scheduler_name == wanted), None)

    def nodes_to_find(self, profile: SchedulerProfile, num_nodes: int) -> int:
        """After how many feasible nodes of `num_nodes` the search ends for a pod of `profile`.

        Where nothing chooses between nodes, the first that fits is taken.
        """
        asks_extender = any(extender.filters or extender.prioritizes for extender in self.extenders)
        if not (profile.is_scoring or asks_extender):
            return min(1, num_nodes)
        own = profile.percentage_of_nodes_to_score
        return nodes_to_find(num_nodes, self.percentage_of_nodes_to_score if own is None else own)


def nodes_to_find(num_nodes: int, percentage: int) -> int:
    """After how many feasible nodes of `num_nodes` the search for more ends.

    `percentage` is 0 to 100; 0 stands for a half of a small cluster, falling to a twentieth of a large one. Fewer than
    a hundred nodes are never left out. Mirrors `numFeasibleNodesToFind` of Kubernetes 1.36
    `pkg/scheduler/schedule_one.go`.
    """
    if num_nodes < _FEWEST_NODES:
        return num_nodes
    share = percentage or max(_LOWEST_PERCENTAGE, 50 - num_nodes // 125)
    return max(_FEWEST_NODES, num_nodes * share // 100)


def load_scheduler_configuration(
    source: Path | str | Mapping[str, object],
    *,
    name: str | None = None,
    version: KubeVersion | None = None,
    plugins: Mapping[str, PluginSettings],
    made_of: Mapping[str, KubeVersion] = _NOTHING_ELSE,
) -> SchedulerConfiguration:
    """The configuration in `source`: a Path to read, YAML or JSON text, or an object as `json.loads` gives it.

    `name` stands for the file in messages; `version` is the scheduler's, which the default plugins follow. `plugins`
    are those that are modelled; what any other does is unknown. `made_of` has the versions of kube-scheduler that
    schedulers are made of, by their names, where that is not `version`. Raises PolicyError with every problem found.
    """
    document = read_document(source, name, "scheduler configuration")
    return scheduler_configuration(document, version=version, plugins=plugins, made_of=made_of)


def scheduler_configuration(
    document: Document,
    *,
    version: KubeVersion | None = None,
    plugins: Mapping[str, PluginSettings],
    made_of: Mapping[str, KubeVersion] = _NOTHING_ELSE,
) -> SchedulerConfiguration:
    """The configuration in a document that was read; see `load_scheduler_configuration`."""
    checks = Checks.of(document)
    for mark, note in document.notes:
        checks.load.warn((), mark, note)
    if not _is_scheduler_configuration(checks, document.root):
        raise PolicyError(in_order(checks.load.problems))
    configuration = _read(checks, version or KubeVersion(), plugins, made_of)
    if checks.load.problems:
        raise PolicyError(in_order(checks.load.problems))
    return replace(configuration, warnings=checks.warnings())


def default_configuration(version: KubeVersion, plugins: Mapping[str, PluginSettings]) -> SchedulerConfiguration:
    """What the scheduler of `version` does without any configuration: one profile of the default plugins."""
    return load_scheduler_configuration(
        {"apiVersion": SCHEDULER_API_VERSION, "kind": _KIND}, version=version, plugins=plugins
    )


def _is_scheduler_configuration(checks: Checks, root: TreeNode) -> bool:
    """Whether the document is of the kind and version read here; if not, that is the one problem recorded."""
    if root.value is not None and not isinstance(root.value, Mapping):
        checks.fail_load((), f"expected a {_KIND} with apiVersion and kind, found {kind_of(root)}")
        return False
    kind, api_version = _word(checks, root, "kind"), _word(checks, root, "apiVersion")
    if checks.load.problems:
        return False
    if kind not in ("", _KIND):
        checks.fail_load(("kind",), f"{shown(kind)} is not supported, only {_KIND}{did_you_mean(kind, [_KIND])}")
    elif not api_version:
        checks.fail_load((), f"apiVersion is missing; add 'apiVersion: {SCHEDULER_API_VERSION}'")
    elif api_version != SCHEDULER_API_VERSION:
        message = (
            f"{shown(api_version)} is not supported, only {SCHEDULER_API_VERSION}, which Kubernetes has since 1.25"
        )
        checks.fail_load(("apiVersion",), message)
    elif not kind:
        checks.fail_load((), f"kind is missing; add 'kind: {_KIND}'")
    return not checks.load.problems


def _word(checks: Checks, root: TreeNode, key: str) -> str:
    """The string at `key` of the document, empty when absent; for anything else the problem is recorded."""
    node = find(root, (key,))
    if node is root or node.value is None:
        return ""
    if not isinstance(node.value, str):
        checks.fail_load((key,), f"expected a string, found {kind_of(node)}")
        return ""
    return node.value


def _read(
    checks: Checks, version: KubeVersion, plugins: Mapping[str, PluginSettings], made_of: Mapping[str, KubeVersion]
) -> SchedulerConfiguration:
    root = checks.load.document.root
    section = checks.load.partial(root, SchedulerConfigurationSection, (), Strictness("error", "error"))
    _check_process(checks, section)
    sections = _named(section.profiles)
    _check_names(checks, sections)
    _check_queue_sort(checks, sections)
    extenders = read_extenders(checks, section.extenders)
    profiles = [
        SchedulerProfileReader(
            checks, profile, ("profiles", index), version, plugins, made_of.get(profile.scheduler_name or "")
        ).read()
        for index, profile in enumerate(sections)
    ]
    return SchedulerConfiguration(
        profiles=tuple(_without_ignored(profile, extenders, plugins) for profile in profiles),
        percentage_of_nodes_to_score=section.percentage_of_nodes_to_score or 0,
        extenders=extenders,
    )


def _check_process(checks: Checks, section: SchedulerConfigurationSection) -> None:
    initial, longest = section.pod_initial_backoff_seconds, section.pod_max_backoff_seconds
    initial, longest = 1 if initial is None else initial, 10 if longest is None else longest
    if section.parallelism is not None and section.parallelism < 1:
        checks.fail_load(("parallelism",), f"{section.parallelism} is below 1")
    if initial < 1:
        checks.fail_load(("podInitialBackoffSeconds",), f"{initial} is below 1")
    if longest < initial:
        checks.fail_load(("podMaxBackoffSeconds",), f"{longest} is below podInitialBackoffSeconds, which is {initial}")


def _named(profiles: tuple[SchedulerProfileSection, ...]) -> tuple[SchedulerProfileSection, ...]:
    """`profiles`, or a default one when there is none; a single one may go without a name."""
    first, *others = profiles or (SchedulerProfileSection(),)
    if others or first.scheduler_name is not None:
        return profiles
    return (msgspec.structs.replace(first, scheduler_name=DEFAULT_SCHEDULER_NAME),)


def _check_names(checks: Checks, profiles: tuple[SchedulerProfileSection, ...]) -> None:
    seen = set[str]()
    for index, name in enumerate(profile.scheduler_name for profile in profiles):
        path = ("profiles", index, "schedulerName")
        if not name:
            checks.fail_load(path, "is missing; name the scheduler of every profile, as pods name it")
        elif name in seen:
            checks.fail_load(path, f"{shown(name)} is the scheduler of an earlier profile too")
        seen.add(name or "")


def _check_queue_sort(checks: Checks, profiles: tuple[SchedulerProfileSection, ...]) -> None:
    """All profiles take their pods from one queue."""
    for index, profile in enumerate(profiles[1:], start=1):
        if profile.plugins.queue_sort != profiles[0].plugins.queue_sort:
            path = ("profiles", index, "plugins", "queueSort")
            checks.fail_load(path, "differs from that of the first profile; all profiles share one queue")


def _without_ignored(
    profile: SchedulerProfile, extenders: tuple[Extender, ...], plugins: Mapping[str, PluginSettings]
) -> SchedulerProfile:
    """`profile` with the resources that extenders take off the scheduler's hands."""
    ignored = frozenset(name for extender in extenders for name in extender.ignored_resources)
    if not ignored:
        return profile
    args = profile.args
    for kind in (row.args for row in plugins.values()):
        if kind is not None and kind.in_use is not None and kind.ignoring is not None:
            args = args.replaced(kind.ignoring(args.of(kind.in_use), ignored))
    return replace(profile, args=args)
