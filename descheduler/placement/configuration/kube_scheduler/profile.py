"""Profiles of kube-scheduler: which plugins run where, in which order, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.default_plugins import (
    EVERYTHING,
    POINTS,
    REMOVED,
    PluginSection,
    SchedulerPluginSetSection,
    SchedulerPluginsSection,
    default_plugins,
    expand,
    field_of,
    merge_multi_point,
    weight_of,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import (
    Percent,
    PluginArgs,
    PluginSettings,
    read_plugin_args,
)
from descheduler.policy.checks import Checks
from descheduler.policy.plugin_args import PluginConfigSection
from descheduler.policy.plugin_packages import load_failure
from descheduler.policy.shared_args import Args

_DECIDING = frozenset({"multi_point", "pre_enqueue", "pre_filter", "filter", "reserve", "permit", "pre_bind", "bind"})
"""Where a plugin can keep a pod from a node, or from being bound."""
_CHOOSING = frozenset({"multi_point", "queue_sort", "pre_score", "score"})
"""Where a plugin can change which of the nodes that fit is chosen: by scores, or by the order of pods."""
_PREEMPTING = frozenset({"multi_point", "post_filter"})
_WITHOUT_EFFECT = frozenset({"post_bind"})


class SchedulerProfileSection(Args, frozen=True):
    """One entry of `profiles`."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Percent | None = None
    plugins: SchedulerPluginsSection = SchedulerPluginsSection()
    plugin_config: tuple[PluginConfigSection, ...] = ()


class SchedulerProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about pods whose `spec.schedulerName` is `scheduler_name`.

    The tuples of names are in running order and hold plugins that are known only.
    """

    scheduler_name: str
    made_of: KubeVersion | None = None
    """The kube-scheduler that the scheduler is made of; None when it is that of the cluster's version."""
    percentage_of_nodes_to_score: int | None = None
    """0 to 100, 0 for a share that falls with the number of nodes; None when the configuration's counts."""
    queue_sorts: tuple[str, ...] = ()
    pre_enqueue: tuple[str, ...] = ()
    pre_filters: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    post_filters: tuple[str, ...] = ()
    pre_scores: tuple[str, ...] = ()
    scores: tuple[tuple[str, int], ...] = ()
    """Scorers and their weights; those whose gate for scoring is off are left out."""
    reserves: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    pre_binds: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    is_scoring: bool = True
    """Whether anything is asked to score, were it only to give 0; if nothing is, the first node that fits is taken."""
    disabled: tuple[str, ...] = ()
    """Default plugins that run nowhere in this profile."""
    unknown_plugins: tuple[str, ...] = ()
    """Plugins that are not kube-scheduler's own; what they make of a pod is unknown."""
    unknown_scorers: tuple[str, ...] = ()
    """The part of `unknown_plugins` that refuses no node, and only changes the chosen node or the order of pods."""
    unknown_choosers: tuple[str, ...] = ()
    """The part of `unknown_plugins` that changes which node is chosen, or which pod goes first."""
    unknown_sorters: tuple[str, ...] = ()
    """Those that may say which pod goes first."""
    unknown_preempters: tuple[str, ...] = ()
    """Those that may evict others for a pod that fits nowhere."""
    unprepared_filters: tuple[str, ...] = ()
    """Plugins without the PreFilter that their Filter or Reserve reads from: kube-scheduler fails every pod."""
    unprepared_scorers: tuple[str, ...] = ()
    """Scorers without the PreScore that they read from: it fails every pod that fits more than one node."""
    args: PluginArgs = msgspec.field(default_factory=PluginArgs)

    @property
    def running(self) -> frozenset[str]:
        """Every plugin that runs at some point, of those that are known."""
        points = (self.queue_sorts, self.pre_enqueue, self.pre_filters, self.filters, self.post_filters)
        others = (self.pre_scores, self.reserves, self.permits, self.pre_binds, self.binds)
        return frozenset().union(*points, *others, (name for name, _ in self.scores))

    def release(self, cluster: KubeVersion) -> KubeVersion:
        """The kube-scheduler that decides in a cluster of this version, with the gates that are set there."""
        return cluster if self.made_of is None else self.made_of.with_gates(dict(cluster.overrides))


class SchedulerProfileReader:
    """Reads the profile in `section`, which stands at `path`, for the scheduler of `version`; faults are recorded.

    `known` are the plugins that are modelled. The scheduler is that of the cluster's version, or `made_of` another one.
    """

    def __init__(
        self,
        checks: Checks,
        section: SchedulerProfileSection,
        path: Path,
        version: KubeVersion,
        known: Mapping[str, PluginSettings],
        made_of: KubeVersion | None,
    ) -> None:
        self._checks = checks
        self._section = section
        self._plugins = known
        self._path = path
        self._plugins_path: Path = (*path, "plugins")
        self._made_of = made_of
        self._version = made_of or version
        self._defaults = default_plugins(self._version, known)
        self._multi_point = merge_multi_point(self._defaults, section.plugins.multi_point)
        self._sets = {point: expand(point, self._set(point), self._multi_point, known) for point in POINTS}
        self._running = frozenset(name for names in self._sets.values() for name in names)
        self._enabled = self._running | {plugin.name for plugin in self._multi_point}

    def read(self) -> SchedulerProfile:
        """The profile, as far as it can be read."""
        for point in (*POINTS, "multi_point"):
            self._check_set(point)
        self._check_queue_and_binding()
        unknown = self._unknown()
        score = self._section.plugins.score
        return SchedulerProfile(
            scheduler_name=self._section.scheduler_name or "",
            made_of=self._made_of,
            percentage_of_nodes_to_score=self._section.percentage_of_nodes_to_score,
            queue_sorts=self._known("queue_sort"),
            pre_enqueue=self._known("pre_enqueue"),
            pre_filters=self._known("pre_filter"),
            filters=self._known("filter"),
            post_filters=self._known("post_filter"),
            pre_scores=self._known("pre_score"),
            scores=tuple(
                (name, weight_of(name, score, self._multi_point))
                for name in self._known("score")
                if not (gate := self._plugins[name].scoring_gate) or self._version.gate(gate)
            ),
            reserves=self._known("reserve"),
            permits=self._known("permit"),
            pre_binds=self._known("pre_bind"),
            binds=self._known("bind"),
            is_scoring=bool(self._sets["score"]) or self._has_foreign_multi_point(),
            disabled=tuple(plugin.name for plugin in self._defaults if plugin.name not in self._running),
            unknown_plugins=tuple(unknown),
            unknown_scorers=tuple(name for name, points in unknown.items() if not points & _DECIDING),
            unknown_choosers=_at(unknown, _CHOOSING),
            unknown_sorters=_at(unknown, frozenset({"multi_point", "queue_sort"})),
            unknown_preempters=_at(unknown, _PREEMPTING),
            unprepared_filters=tuple(
                dict.fromkeys(
                    name
                    for point in ("filter", "reserve")
                    for name in self._unprepared(point, "pre_filter", "schedules no pod of this profile")
                )
            ),
            unprepared_scorers=self._unprepared("score", "pre_score", "schedules no pod that fits more than one node"),
            args=self._read_args(),
        )

    def _set(self, point: str) -> SchedulerPluginSetSection:
        section: SchedulerPluginSetSection = getattr(self._section.plugins, point)
        return section

    def _known(self, point: str) -> tuple[str, ...]:
        return tuple(name for name in self._sets[point] if name in self._plugins)

    def _has_foreign_multi_point(self) -> bool:
        """Whether a plugin of others may run at any point."""
        return any(plugin.name not in self._plugins for plugin in self._multi_point)

    def _unknown(self) -> dict[str, set[str]]:
        """Plugins of others and the points they are enabled at, in document order."""
        found: dict[str, set[str]] = {}
        for point in ("multi_point", *POINTS):
            for plugin in self._set(point).enabled:
                if plugin.name not in self._plugins:
                    found.setdefault(plugin.name, set()).add(point)
        return {name: points for name, points in found.items() if not points <= _WITHOUT_EFFECT}

    def _unprepared(self, point: str, preparing: str, consequence: str) -> tuple[str, ...]:
        prepared = self._sets[preparing]
        names = tuple(
            name
            for name in self._sets[point]
            if name in self._plugins and point in self._plugins[name].prepared_for and name not in prepared
        )
        # Where the filter runs too, that was said of it.
        told = self._sets["filter"] if point == "reserve" else ()
        if not set(names) <= set(told):
            points = f"at {field_of(point)} but not at {field_of(preparing)}"
            message = f"{', '.join(names)} would run {points}; kube-scheduler then {consequence}"
            self._checks.warn((*self._plugins_path, field_of(preparing)), message)
        return names

    def _check_set(self, point: str) -> None:
        path = (*self._plugins_path, field_of(point))
        section = self._set(point)
        seen = set[str]()
        for index, plugin in enumerate(section.enabled):
            place = (*path, "enabled", index, "name")
            self._check_enabled(plugin, point, place)
            if plugin.name in seen:
                self._checks.fail_load(place, f"plugin {shown(plugin.name)} is enabled twice in this set")
            seen.add(plugin.name)
        for index, plugin in enumerate(section.disabled):
            if plugin.name not in (EVERYTHING, *self._plugins, *REMOVED, *self._enabled):
                message = (
                    f"unknown plugin {shown(plugin.name)}, nothing to disable{did_you_mean(plugin.name, self._plugins)}"
                )
                self._checks.warn((*path, "disabled", index, "name"), message)

    def _check_enabled(self, plugin: PluginSection, point: str, place: Path) -> None:
        row = self._plugins.get(plugin.name)
        if not plugin.name:
            self._checks.fail_load(place, "is missing")
        elif plugin.name in REMOVED:
            message = f"plugin {shown(plugin.name)} was removed; NodeVolumeLimits, which runs by default, does its work"
            self._checks.fail_load(place, message)
        elif failure := load_failure(plugin.name, self._plugins):
            self._checks.fail_load(place, f"plugin {shown(plugin.name)}: {failure}")
        elif row is None:
            hint = did_you_mean(plugin.name, self._plugins)
            message = f"plugin {shown(plugin.name)} is not kube-scheduler's own; what it does is unknown{hint}"
            self._checks.warn(place, message)
        elif point != "multi_point" and point not in row.points:
            listed = " or ".join(field_of(name) for name in POINTS if name in row.points)
            message = f"plugin {shown(plugin.name)} is not a {field_of(point)} plugin; list it under {listed}"
            self._checks.fail_load(place, message)

    def _check_queue_and_binding(self) -> None:
        """One plugin sorts the queue and at least one binds; a foreign one under `multiPoint` may do either."""
        may_be_foreign = self._has_foreign_multi_point()
        sorters = self._sets["queue_sort"]
        if len(sorters) > 1:
            message = f"{' and '.join(map(shown, sorters))} would both sort the queue; disable all but one"
            self._checks.fail_load((*self._plugins_path, "queueSort"), message)
        examples = {"queue_sort": "PrioritySort", "bind": "DefaultBinder"}
        missing = [point for point in examples if not self._sets[point] and not may_be_foreign]
        if missing:
            points = " and no ".join(map(field_of, missing))
            names = " and ".join(examples[point] for point in missing)
            self._checks.fail_load(self._plugins_path, f"no {points} plugin is left; enable {names}")

    def _read_args(self) -> PluginArgs:
        args, seen = PluginArgs(), set[str]()
        for index, section in enumerate(self._section.plugin_config):
            path = (*self._path, "pluginConfig", index)
            if section.name in seen:
                message = f"{shown(section.name)} is configured twice; keep one of them"
                self._checks.fail_load((*path, "name"), message)
                continue
            seen.add(section.name)
            row = self._plugins.get(section.name)
            if row is not None and row.args is not None:
                node = self._checks.args_node(section.args, path)
                read = read_plugin_args(self._checks, section.name, row.args, node, (*path, "args"), self._version)
                args = args if read is None else args.replaced(read)
            self._check_configured(section, path)
        return args

    def _check_configured(self, section: PluginConfigSection, path: Path) -> None:
        name, place = section.name, (*path, "name")
        row = self._plugins.get(name)
        if name in REMOVED:
            self._checks.fail_load(place, f"plugin {shown(name)} was removed; take its arguments out")
        elif row is not None and row.args is None:
            self._checks.warn(path, f"{name} takes no arguments; they are ignored")
        elif row is not None and name not in self._running:
            self._checks.warn(path, f"{name} is configured but not enabled in this profile")
        elif row is None and name not in self._enabled:
            hint = did_you_mean(name, [known for known, row in self._plugins.items() if row.args is not None])
            self._checks.warn(place, f"unknown plugin {shown(name)}, its arguments are ignored{hint}")


def _at(plugins: Mapping[str, set[str]], points: frozenset[str]) -> tuple[str, ...]:
    """The plugins that are enabled at one of `points`."""
    return tuple(name for name, enabled_at in plugins.items() if enabled_at & points)
