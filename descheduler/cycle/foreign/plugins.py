"""A plugin of a policy that is not of this program, once it is built: its methods, each behind a guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from descheduler.cycle.foreign.answers import checked_facts, checked_note, checked_verdict, nothing
from descheduler.cycle.foreign.evictor import ForeignEvictor
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.handle import Handle
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.policy.plugin import ExtensionPoint
from descheduler.policy.plugin_faults import Origin, PluginFault, WrongAnswer, guarded, note_fault, text_of
from descheduler.strategies.framework import StrategyError

METHODS: dict[ExtensionPoint, str] = {
    "deschedule": "deschedule",
    "balance": "balance",
    "filter": "filter",
    "preEvictionFilter": "pre_eviction_filter",
}
"""The method of each extension point."""

_CHECKS: dict[str, Callable[[object], object]] = {
    "deschedule": nothing,
    "balance": nothing,
    "facts": checked_facts,
    "note": checked_note,
}
"""What strategies have, beside what they say of single pods, and what is made of the answers."""


class ForeignFactory:
    """Builds a plugin behind its guard. A filter that cannot be built, or that fails, refuses every pod.

    Of a strategy whatever fails raises PluginFault, or StrategyError where the strategy has raised that.
    """

    def __init__(self, build: Callable[[Any, Any], object], origin: Origin, points: frozenset[ExtensionPoint]) -> None:
        self.__wrapped__ = build
        """What it builds with, for those who read what stands with the code."""
        self._origin = origin
        self._methods = [METHODS[point] for point in points if point in METHODS]

    def __call__(self, args: object, handle: Handle) -> object:
        """The plugin."""

        def build() -> object:
            return _Guarded(self._built(args, handle), self._origin)

        if isinstance(handle, StrategyHandle):
            return _guarded_strategy(self._origin, build)()
        try:
            return guarded(self._origin, build)()
        except PluginFault as fault:
            return _RefusesAll(fault)

    def _built(self, args: object, handle: Handle) -> object:
        if isinstance(handle, StrategyHandle):
            handle = replace(handle, evictor=ForeignEvictor(handle.evictor, handle.view))
        plugin = self.__wrapped__(args, handle)
        missing = [name for name in self._methods if not callable(getattr(plugin, name, None))]
        if missing:
            raise WrongAnswer(f"{type(plugin).__name__} has no method {', '.join(missing)}")
        return plugin


class _Guarded:
    """What `plugin` has of the methods that are asked for, so that whoever looks for a method finds what is there."""

    def __init__(self, plugin: object, origin: Origin) -> None:
        self.JUDGES_PODS_ALONE = getattr(plugin, "JUDGES_PODS_ALONE", False) is True
        for name, method in _methods(plugin, origin):
            setattr(self, name, method)


def _methods(plugin: object, origin: Origin) -> Iterator[tuple[str, Callable[..., object]]]:
    """The methods of `plugin`, guarded, by name."""
    for name, check in _CHECKS.items():
        if callable(method := getattr(plugin, name, None)):
            yield name, _guarded_strategy(origin, partial(_checked, method, check))
    for name in ("why_not", "about_pending"):
        if callable(method := getattr(plugin, name, None)):
            yield name, _sentence_method(origin, name, method)
    if callable(method := getattr(plugin, "selects_again", None)):
        yield "selects_again", _again_method(origin, method)
    for name in (METHODS["filter"], METHODS["preEvictionFilter"]):
        if callable(method := getattr(plugin, name, None)):
            yield name, _filter_method(origin, method)


def _checked(method: Callable[..., object], check: Callable[[object], object], *given: object) -> object:
    return check(method(*given))


def _guarded_strategy(origin: Origin, call: Callable[..., object]) -> Callable[..., object]:
    """`call`, which raises PluginFault for whatever its code raises, but for StrategyError."""

    def tried(*given: object) -> object:
        try:
            return call(*given)
        except StrategyError as error:
            return _Told(text_of(str(error), "the text of a StrategyError"))

    ask = guarded(origin, tried)

    def asked(*given: object) -> object:
        answer = ask(*given)
        if isinstance(answer, _Told):
            raise StrategyError(answer.message)
        return answer

    return asked


class _Told(NamedTuple):
    """What a strategy says that cannot work in this cycle."""

    message: str


def _sentence_method(origin: Origin, name: str, method: Callable[[Pod], object]) -> Callable[[Pod], str]:
    """What is only shown says what is wrong with it."""

    def asked(pod: Pod) -> str:
        try:
            return guarded(origin, lambda: text_of(method(pod), f"{name}()"))()
        except PluginFault as fault:
            return str(fault)

    return asked


def _again_method(
    origin: Origin, method: Callable[[Pod, Pod, ClusterView], object]
) -> Callable[[Pod, Pod, ClusterView], str]:
    """Whoever does not come to an answer is taken to select the pod again."""
    judge = guarded(origin, lambda *given: text_of(method(*given), "selects_again()"))

    def asked(pod: Pod, arrival: Pod, after: ClusterView) -> str:
        try:
            return judge(pod, arrival, after)
        except PluginFault as fault:
            note_fault(fault)
            return str(fault)

    return asked


def _filter_method(origin: Origin, method: Callable[[Pod], object]) -> Callable[[Pod], Verdict]:
    """A plugin without an answer refuses the pod."""
    judge = guarded(origin, lambda pod: checked_verdict(method(pod)))

    def asked(pod: Pod) -> Verdict:
        try:
            return judge(pod)
        except PluginFault as fault:
            note_fault(fault)
            return _refusal(fault)

    return asked


class _RefusesAll:
    """Stands for a filter that cannot be built."""

    def __init__(self, fault: PluginFault) -> None:
        note_fault(fault)
        self._refusal = _refusal(fault)

    def filter(self, pod: Pod) -> Verdict:
        """A refusal."""
        return self._refusal

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """A refusal."""
        return self._refusal


def _refusal(fault: PluginFault) -> Verdict:
    return refuse(Reason.PLUGIN_FAILED, str(fault), fault.plugin)
