"""Rows of scheduling plugins that are not of this program, as they are used: every function behind a guard."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.default_plugins import POINTS, field_of
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.foreign.answers import Trouble, guarded_interactions
from descheduler.placement.framework.foreign.plugin import failed_plugin, guarded_plugin
from descheduler.placement.framework.interactions import CAUTIOUS, Interactions
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.shadow.placement_class import Mark
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.policy.plugin_faults import (
    Origin,
    PluginFault,
    WrongAnswer,
    at_most,
    guarded,
    is_of,
    is_own_code,
    note_fault,
    origin_of,
    text_of,
)

_MOST_SENTENCES = 100
_MOST_QUEUED = 200_000
_NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "pre_enqueue": (("pre_enqueue",),),
    "pre_filter": (("pre_filter", "filter", "obstacle", "is_static"), ("before_pre_filter",)),
    "filter": (("pre_filter", "filter", "obstacle", "is_static"),),
    "reserve": (("ledger",),),
    "permit": (("permit",),),
    "pre_bind": (("pre_bind",), ("patch",)),
}
"""What a class needs at each point to be asked there at all: everything of one of these."""
_Build = Callable[[ShadowCluster, SchedulerProfile], object]
_Explain = Callable[..., Iterator[str]]


def guarded_row(name: str, row: SchedulingPlugin) -> SchedulingPlugin:
    """A row as it is used: as it is where it is of this program, or guarded already."""
    code = row.plugin or row.score
    if code is None or isinstance(code, _Builder) or is_own_code(code):
        return row
    return _with_guards(row, origin_of(name, code))


def admit_row(row: SchedulingPlugin, origin: Origin) -> SchedulingPlugin:
    """The row of a package, of which planners and owners of pods ask nothing.

    Raises WrongAnswer for one that makes no sense, PluginFault where its code fails.
    """
    _check(row)
    guard = _RowGuard(row, origin)
    return replace(
        _with_guards(row, origin),
        about=_checked_about(row.about),
        explain=guard.explaining(row.explain, "explain()"),
        explain_shortage=guard.explaining(row.explain_shortage, "explain_shortage()"),
        doubt=guard.doubt,
        marks=None if row.marks is None else guard.marks,
        queues=None if row.queues is None else guard.queues,
        args=None if row.args is None else _guarded_args(row.args, origin),
        unread=None,
        prefers=None,
        parts=None,
        renews=None,
    )


def _with_guards(row: SchedulingPlugin, origin: Origin) -> SchedulingPlugin:
    guard = _RowGuard(row, origin)
    return replace(
        row,
        plugin=None if row.plugin is None else _Builder(row.plugin, origin),
        score=None if row.score is None else _Builder(row.score, origin),
        interactions=guard.interactions,
    )


class _Builder:
    """Builds a plugin behind its guard; one that cannot be built has failed from the start."""

    def __init__(self, build: _Build, origin: Origin) -> None:
        self._build = build
        self._origin = origin

    def __call__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> Any:
        """The plugin."""
        trouble = Trouble(self._origin)
        try:
            return guarded_plugin(self._build(cluster, profile), trouble)
        except BaseException as error:
            trouble.note(error)
            return failed_plugin(trouble)


class _RowGuard:
    """The functions of a row."""

    def __init__(self, row: SchedulingPlugin, origin: Origin) -> None:
        self._row = row
        self._origin = origin

    def interactions(self, profile: SchedulerProfile) -> Interactions:
        """The interactions of the row, or the most cautious ones."""
        trouble = Trouble(self._origin)
        try:
            return guarded_interactions(self._row.interactions(profile), trouble)
        except BaseException as error:
            trouble.note(error)
            return CAUTIOUS

    def explaining(self, explain: _Explain | None, what: str) -> _Explain | None:
        """`explain` of the row, whose sentences name a fault of it; None for none."""
        if explain is None:
            return None
        return lambda *asked: iter(self._sentences(lambda: explain(*asked), what))

    def doubt(self, profile: SchedulerProfile) -> str:
        """The doubt of the row; that it cannot tell is one."""
        try:
            return guarded(self._origin, lambda: text_of(self._row.doubt(profile), "doubt()"))()
        except PluginFault as fault:
            note_fault(fault)
            return str(fault)

    def marks(self, snapshot: Snapshot) -> Mark | None:
        """The mark of the row; where it cannot tell pods apart, no two of them are alike."""
        try:
            ask = self._row.marks
            mark = None if ask is None else guarded(self._origin, ask)(snapshot)
        except PluginFault as fault:
            note_fault(fault)
            return lambda pod: pod.uid or pod.key
        return None if mark is None else self._guarded_mark(mark)

    def _guarded_mark(self, mark: Mark) -> Mark:
        def told(pod: Pod) -> Hashable:
            found = mark(pod)
            hash(found)
            return found

        ask = guarded(self._origin, told)

        def marked(pod: Pod) -> Hashable:
            try:
                return ask(pod)
            except PluginFault as fault:
                note_fault(fault)
                return pod.uid or pod.key

        return marked

    def queues(self, snapshot: Snapshot) -> Iterable[Pod]:
        """The pods of the row; none where it cannot tell."""
        ask = self._row.queues
        try:
            found = guarded(self._origin, lambda: at_most(ask(snapshot) if ask else (), _MOST_QUEUED, "queues()"))()
            return guarded(self._origin, lambda: [is_of(pod, Pod, "a pod of queues()") for pod in found])()
        except PluginFault as fault:
            note_fault(fault)
            return ()

    def _sentences(self, ask: Callable[[], object], what: str) -> list[str]:
        try:
            return guarded(
                self._origin, lambda: [text_of(each, what) for each in at_most(ask(), _MOST_SENTENCES, what)]
            )()
        except PluginFault as fault:
            return [str(fault)]


def _check(row: SchedulingPlugin) -> None:
    points = at_most(row.points, len(POINTS), "points of its row")
    unknown = [text_of(point, "a point of its row") for point in points if point not in POINTS]
    if unknown or not points:
        named = f"names {', '.join(sorted(unknown))}" if unknown else "names no extension point"
        raise WrongAnswer(f"its row {named}; known are {', '.join(map(field_of, POINTS))}")
    for key in (*at_most(row.reads_annotations, 1_000, "reads_annotations"), *at_most(row.reads_kinds, 1_000, "kinds")):
        text_of(key, "an annotation or a kind that its row reads")
    asked = [point for point in POINTS if point in row.points and point in _NEEDED]
    _check_class(row.plugin, asked)
    if asked and row.plugin is None and row.is_modelled:
        raise WrongAnswer(f"its row names {', '.join(map(field_of, asked))}, and has no plugin")
    if "score" in row.points and row.score is None and row.is_modelled:
        raise WrongAnswer("its row names score, and has no score")
    if isinstance(row.score, type) and not callable(getattr(row.score, "score", None)):
        raise WrongAnswer(f"its row names score; class {row.score.__name__} has {_members(row.score)}")


def _check_class(code: object, points: list[str]) -> None:
    """A misspelt method is found here, not by a plugin that is enabled and never asked."""
    if not isinstance(code, type):
        return
    there = _names_of(code)
    if all(any(there.issuperset(needed) for needed in _NEEDED[point]) for point in points):
        return
    wanted = "; ".join(f"{field_of(point)} ({_alternatives(point)})" for point in points)
    raise WrongAnswer(f"its row names {wanted}; class {code.__name__} has {_members(code)}")


def _alternatives(point: str) -> str:
    return " or ".join(", ".join(needed) for needed in _NEEDED[point])


def _names_of(code: type) -> set[str]:
    """What instances of a class have, as far as its code tells: its members, and what its methods set on `self`."""
    found = set(dir(code))
    for each in code.__mro__:
        functions = [member for member in vars(each).values() if isinstance(member, FunctionType)]
        found |= {name for function in functions for name in function.__code__.co_names}
        found |= set(getattr(each, "__annotations__", ()))
    methods = {name for needed in _NEEDED.values() for names in needed for name in names} - {"ledger", "is_static"}
    return {name for name in found if name not in methods or callable(getattr(code, name, None))}


def _members(code: type) -> str:
    names = {name for each in code.__mro__ if each is not object for name in vars(each)}
    return ", ".join(sorted(name for name in names if not name.startswith("_"))) or "no methods"


def _checked_about(given: object) -> About:
    about = is_of(given, About, "about of its row")
    reasons = [text_of(each, "a reason of about") for each in at_most(about.reasons, _MOST_SENTENCES, "reasons")]
    return About(text_of(about.check, "about.check"), text_of(about.preference, "about.preference"), tuple(reasons))


def _guarded_args(kind: ArgsKind[Any], origin: Origin) -> ArgsKind[Any]:
    """What cannot be read is a problem of the arguments."""

    def read(block: ArgsBlock, section: msgspec.Struct) -> object | None:
        try:
            return guarded(origin, kind.read)(block, section)
        except PluginFault as fault:
            block.fail((), str(fault))
            return None

    return replace(kind, read=read)
