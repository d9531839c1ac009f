"""The configuration of Volcano's scheduler: a `volcano-scheduler.conf`, by itself or in its ConfigMap.

Read as Volcano 1.10 reads it (`pkg/scheduler/conf`, `pkg/scheduler/util.go`): a key that is not known is passed over,
and an argument of the wrong type counts as not given. Both are warnings here; what Volcano refuses is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from descheduler.documents.decode import Path as FieldPath
from descheduler.documents.decode import Strictness
from descheduler.documents.document import Document, kind_of
from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean, shown
from descheduler.documents.source import read_document
from descheduler.placement.configuration.volcano_arguments import (
    KNOWN_ARGUMENTS,
    MEASURED,
    MODELLED_ACTIONS,
    ArgumentReader,
    Arguments,
    VolcanoVersion,
)
from descheduler.policy.checks import Checks, in_order
from descheduler.policy.shared_args import Args

_LENIENT = Strictness("warning", "warning")
_UNMODELLED = frozenset(
    {
        "cdp",
        "extender",
        "network-topology-aware",
        "numaaware",
        "rescheduling",
        "resourcequota",
        "task-topology",
        "usage",
    }
)
"""Plugins of Volcano's own that are not modelled."""
_HEARD_BY: Mapping[str, frozenset[str]] = {
    "task-topology": frozenset(f"volcano.sh/task-topology-{key}" for key in ("affinity", "anti-affinity", "task-order"))
}
"""Plugin → annotations of a PodGroup: of a job without any of them the plugin says nothing."""
_UNMEASURED = frozenset({"nodegroup", "resource-strategy-fit", "tdm"})
"""Plugins that are modelled by what is written of them, and were not measured."""


class PluginOption(msgspec.Struct, frozen=True):
    """One plugin of a tier. `off` are the switches that are false, as they are spelled; the others are true."""

    name: str
    off: frozenset[str] = frozenset()
    is_hierarchical: bool = False
    """`enableHierarchy`."""
    arguments: Arguments = Arguments()


class VolcanoConfiguration(msgspec.Struct, frozen=True):
    """What Volcano's scheduler was told: actions in their order, plugins by tier."""

    actions: tuple[str, ...]
    tiers: tuple[tuple[PluginOption, ...], ...]
    action_arguments: Mapping[str, Arguments] = {}
    unmodelled: tuple[str, ...] = ()
    """Actions and plugins of Volcano's own whose decisions are not modelled, in document order."""
    unmeasured: tuple[str, ...] = ()
    """Plugins that are modelled and were not measured, in document order: what they refuse counts, what they accept is
    in doubt."""
    version: VolcanoVersion = VolcanoVersion()
    warnings: tuple[DocumentProblem, ...] = ()
    is_assumed: bool = False
    """Whether it is what Volcano runs where no file says otherwise."""
    is_release_named: bool = False
    """Whether the policy names `version`; else the release that was measured is assumed."""

    @property
    def plugins(self) -> Iterator[PluginOption]:
        """The plugins of all tiers, in order."""
        return (plugin for tier in self.tiers for plugin in tier)

    @property
    def doubt(self) -> str:
        """Why the landing of a pod that Volcano places may not be certain, or an empty string."""
        return self._doubt(self.unmodelled)

    def doubt_about(self, annotations: Mapping[str, str]) -> str:
        """The same of a pod whose PodGroup has these annotations."""
        return self._doubt([name for name in self.unmodelled if _speaks_of(name, annotations)])

    def _doubt(self, unmodelled: Sequence[str]) -> str:
        doubts = (
            ("parts of Volcano that are not modelled", unmodelled),
            ("plugins of Volcano that were not measured", self.unmeasured),
        )
        found = [f"{what}: {', '.join(names)}" for what, names in doubts if names]
        return "; ".join(found) or self.version.doubt


def _speaks_of(plugin: str, annotations: Mapping[str, str]) -> bool:
    return plugin not in _HEARD_BY or not _HEARD_BY[plugin].isdisjoint(annotations)


class _PluginSection(Args, frozen=True):
    name: str = ""
    enable_job_order: bool | None = None
    enable_hierarchy: bool | None = None
    enable_job_ready: bool | None = None
    enable_job_pipelined: bool | None = None
    enable_task_order: bool | None = None
    enable_preemptable: bool | None = None
    enable_reclaimable: bool | None = None
    enable_preemptive: bool | None = None
    enable_queue_order: bool | None = None
    enable_predicate: bool | None = None
    enable_best_node: bool | None = None
    enable_node_order: bool | None = None
    enable_target_job: bool | None = None
    enable_reserved_nodes: bool | None = None
    enable_job_enqueued: bool | None = None
    enabled_victim: bool | None = None
    enable_job_starving: bool | None = None
    enabled_overused: bool | None = None
    enabled_allocatable: bool | None = None
    enabled_hyper_node_order: bool | None = None
    enabled_sub_job_ready: bool | None = None
    enabled_sub_job_pipelined: bool | None = None
    enabled_sub_job_order: bool | None = None
    enabled_hyper_node_gradient: bool | None = None
    cluster_order: bool | None = msgspec.field(default=None, name="EnabledClusterOrder")
    arguments: object = None


class _TierSection(Args, frozen=True):
    plugins: tuple[_PluginSection, ...] = ()


class _ActionSection(Args, frozen=True):
    name: str = ""
    arguments: object = None


class _Section(Args, frozen=True):
    actions: str = ""
    tiers: tuple[_TierSection, ...] = ()
    configurations: tuple[_ActionSection, ...] = ()
    metrics: object = None


def _switches() -> Iterator[tuple[str, str]]:
    """Attribute and spelling of each switch that is on unless it is said to be off."""
    for field in msgspec.structs.fields(_PluginSection):
        if field.name not in ("name", "arguments", "enable_hierarchy", "cluster_order"):
            yield field.name, field.encode_name


_SWITCHES = dict(_switches())


def is_volcano_configuration(document: Document) -> bool:
    """Whether `document` looks like one rather than like an object of Kubernetes."""
    root = document.root.value
    return isinstance(root, Mapping) and "apiVersion" not in root and bool({"actions", "tiers"} & root.keys())


def load_volcano_configuration(
    source: Path | str | Mapping[str, object],
    *,
    modelled: Collection[str],
    name: str | None = None,
    version: VolcanoVersion = MEASURED,
) -> VolcanoConfiguration:
    """The configuration in `source`: a Path to read, YAML or JSON text, or an object as `json.loads` gives it.

    `name` stands for the file in messages; `modelled` are the plugins whose decisions are known. Raises PolicyError
    with every problem found.
    """
    return volcano_configuration(
        read_document(source, name, "scheduler configuration"), modelled=modelled, version=version
    )


def volcano_configuration(
    document: Document, *, modelled: Collection[str], version: VolcanoVersion = MEASURED
) -> VolcanoConfiguration:
    """The configuration in a document that was read; see `load_volcano_configuration`."""
    checks = Checks.of(document)
    for mark, note in document.notes:
        checks.load.warn((), mark, note)
    root = document.root
    if root.value is not None and not isinstance(root.value, Mapping):
        checks.fail_load((), f"expected actions and tiers, found {kind_of(root)}")
        raise PolicyError(in_order(checks.load.problems))
    configuration = _Reader(checks, modelled, version).read(checks.load.partial(root, _Section, (), _LENIENT))
    if checks.load.problems:
        raise PolicyError(in_order(checks.load.problems))
    return replace(configuration, warnings=checks.warnings())


class _Reader(msgspec.Struct, frozen=True):
    """Makes a configuration of a section, and records what is wrong with it."""

    checks: Checks
    modelled: Collection[str]
    version: VolcanoVersion

    @property
    def _arguments(self) -> ArgumentReader:
        return ArgumentReader(self.checks, self.version)

    def read(self, section: _Section) -> VolcanoConfiguration:
        """The whole configuration."""
        tiers = tuple([self._tier(tier, index) for index, tier in enumerate(section.tiers)])
        actions = tuple(self._actions(section.actions))
        named = dict.fromkeys(plugin.name for tier in tiers for plugin in tier)
        unknown = [name for name in named if name in _UNMODELLED and name not in self.modelled]
        unmeasured = tuple(name for name in named if name in _UNMEASURED)
        return VolcanoConfiguration(
            actions=actions,
            tiers=tiers,
            action_arguments={
                action.name: self._arguments.read(action.arguments, ("configurations", index, "arguments"), None)
                for index, action in enumerate(section.configurations)
            },
            unmodelled=(*(name for name in actions if name not in MODELLED_ACTIONS), *unknown),
            unmeasured=unmeasured,
            version=self.version,
        )

    def _actions(self, text: str) -> Iterator[str]:
        for name in text.split(","):
            action = name.strip()
            if action in self.version.actions:
                if action not in MODELLED_ACTIONS:
                    self.checks.warn(("actions",), f"action {shown(action)} is not modelled; what it does is unknown")
                yield action
            else:
                hint = did_you_mean(action, self.version.actions)
                listed = ", ".join(self.version.actions)
                self.checks.fail_load(("actions",), f"{shown(action)} is not an action of Volcano: {listed}{hint}")

    def _tier(self, section: _TierSection, index: int) -> tuple[PluginOption, ...]:
        path = ("tiers", index, "plugins")
        found = tuple([self._plugin(plugin, (*path, place)) for place, plugin in enumerate(section.plugins)])
        names = [plugin.name for plugin in found]
        hierarchical = next((plugin for plugin in found if plugin.name == "drf" and plugin.is_hierarchical), None)
        if hierarchical is not None and "proportion" in names:
            message = "proportion and drf with enableHierarchy: true are not allowed in the same tier"
            self.checks.fail_load((*path, names.index("proportion"), "name"), message)
        return found

    def _plugin(self, section: _PluginSection, path: FieldPath) -> PluginOption:
        name = section.name
        if name not in self.modelled:
            is_known = name in _UNMODELLED
            heard = (
                f" about jobs with an annotation of {', '.join(sorted(_HEARD_BY[name]))}" if name in _HEARD_BY else ""
            )
            text = (
                f"is not modelled; what it decides{heard} is unknown"
                if is_known
                else "is not a plugin of Volcano; ignored"
            )
            hint = "" if is_known else did_you_mean(name, (*self.modelled, *_UNMODELLED))
            self.checks.warn((*path, "name"), f"plugin {shown(name)} {text}{hint}")
        return PluginOption(
            name,
            frozenset(spelled for field, spelled in _SWITCHES.items() if getattr(section, field) is False),
            bool(section.enable_hierarchy),
            self._arguments.read(section.arguments, (*path, "arguments"), KNOWN_ARGUMENTS.get(name)),
        )


DEFAULT_CONFIGURATION: Mapping[str, object] = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": name} for name in ("priority", "gang", "conformance")]},
        {"plugins": [{"name": name} for name in ("overcommit", "drf", "predicates", "proportion", "nodeorder")]},
    ],
}
"""What Volcano runs where no file says otherwise."""


def default_volcano_configuration(
    modelled: Collection[str], version: VolcanoVersion = MEASURED
) -> VolcanoConfiguration:
    """The same as it is read."""
    read = load_volcano_configuration(DEFAULT_CONFIGURATION, modelled=modelled, version=version)
    return replace(read, is_assumed=True)
