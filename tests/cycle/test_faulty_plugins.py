"""Plugins that are not of this program and answer what is no answer: each fault is told, and the others go on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict
from descheduler.plan.bundles import Candidate
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import NearestValue, PluginFacts
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.policy.plugin_faults import PluginFault, WrongAnswer
from descheduler.report.plan.making import make_plan
from descheduler.strategies.framework import StrategyError
from descheduler.supervision import RunStopped
from tests.builders import NOW, make_node, make_pod, make_snapshot

Hook = Callable[[StrategyHandle], None]
EMPTY_DIR = [{"name": "scratch", "emptyDir": {}}]


def strategy(hook: Hook, facts: object = None, note: object = b"") -> type:
    """A strategy whose `deschedule` is `hook`."""

    class Foreign:
        def __init__(self, args: msgspec.Struct, handle: StrategyHandle) -> None:
            del args
            self._handle = handle

        def deschedule(self, nodes: Sequence[Node]) -> None:
            del nodes
            hook(self._handle)

        def facts(self) -> PluginFacts:
            return cast(PluginFacts, facts or PluginFacts("", 1, 1))

        def why_not(self, pod: Pod) -> str:
            raise SystemExit(pod.name)

        def note(self) -> bytes:
            return cast(bytes, note)

    return Foreign


def filtering(answer: Callable[[Pod], object]) -> type:
    """A filter that answers so."""

    class ForeignFilter:
        def __init__(self, args: msgspec.Struct, handle: object) -> None:
            """Reads neither."""

        def filter(self, pod: Pod) -> Verdict:
            return cast(Verdict, answer(pod))

        def pre_eviction_filter(self, pod: Pod) -> Verdict:
            del pod
            return ACCEPTED

    return ForeignFilter


def decided(foreign: type, pods: Sequence[Pod] | None = None, judge: type | None = None) -> Decisions:
    """A run of the strategy `foreign` on pods of node `a`, before PodLifeTime has its turn, beside DefaultEvictor."""
    spec = replace(REGISTRY["RemoveFailedPods"], name="Foreign", factory=foreign)
    registry: Registry = {**REGISTRY, "Foreign": spec}
    plugins: dict[str, Any] = {"deschedule": {"enabled": ["Foreign", "PodLifeTime"]}}
    config = [{"name": "DefaultEvictor"}, {"name": "Foreign"}]
    config += [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 10**6}}]  # type: ignore[dict-item] # of JSON
    if judge is not None:
        row = replace(REGISTRY["DefaultEvictor"], name="Judge", factory=judge, construction_problems=lambda _: ())
        registry = {**registry, "Judge": row}
        plugins["filter"] = {"enabled": ["Judge"]}
        config += [{"name": "Judge"}]
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": "p", "pluginConfig": config, "plugins": plugins}],
    }
    snapshot = make_snapshot([make_node("a"), make_node("b")], [make_pod("web")] if pods is None else pods)
    return decide(load_policy(document, registry), snapshot, now=NOW, setting=RunSetting(registry=registry))


def request_all_pods(handle: StrategyHandle) -> None:
    """Forgets to ask the filters."""
    for pod in handle.view.pods_on("a"):
        handle.evictor.request(pod, "because")


def asking(reason: object) -> Hook:
    """Requests every pod for a reason of whatever type."""

    def hook(handle: StrategyHandle) -> None:
        for pod in handle.view.pods_on("a"):
            handle.evictor.request(pod, cast(str, reason))

    return hook


def raising(error: BaseException) -> Hook:
    def hook(handle: StrategyHandle) -> None:
        request_all_pods(handle)
        raise error

    return hook


def recurse(handle: StrategyHandle) -> None:
    recurse(handle)


def failures(decisions: Decisions) -> list[str]:
    return [failure.message.partition(" at ")[0] for failure in decisions.failures]


PROTECTED = [
    pytest.param({"priority": 2_000_001_000}, Reason.SYSTEM_CRITICAL, id="system critical"),
    pytest.param({"owners": ["DaemonSet/agent"]}, Reason.DAEMON_SET, id="of a DaemonSet"),
    pytest.param({"owners": ()}, Reason.BARE_POD, id="bare"),
    pytest.param({"volumes": EMPTY_DIR}, Reason.LOCAL_STORAGE, id="with local storage"),
]


@pytest.mark.parametrize(("facts", "reason"), PROTECTED)
def test_plugin_that_forgets_the_filters_evicts_no_protected_pod(facts: Any, reason: Reason) -> None:
    decisions = decided(strategy(request_all_pods), [make_pod("other"), make_pod("web", **facts)])

    assert [move.pod.name for move in decisions.moves] == ["other"]
    assert [(each.pod.name, each.verdict.reason, each.reason) for each in decisions.refusals] == [
        ("web", reason, "because")
    ]


def test_bundle_with_one_protected_pod_stays_whole() -> None:
    def hook(handle: StrategyHandle) -> None:
        verdict = handle.evictor.request_all([Candidate(pod, "both") for pod in handle.view.pods_on("a")])
        assert verdict.reason is Reason.BARE_POD

    decisions = decided(strategy(hook), [make_pod("other"), make_pod("web", owners=())])

    assert decisions.moves == ()
    assert decisions.failures == ()


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda evictor, pod: True, id="not at all"),
        pytest.param(lambda evictor, pod: evictor.lets_go(pod, "because"), id="both filters"),
        pytest.param(lambda evictor, pod: evictor.filter(pod).is_accepted, id="the filter alone"),
    ],
)
def test_filters_are_asked_once_about_each_pod(ask: Callable[[Any, Pod], bool]) -> None:
    asked: list[str] = []

    def hook(handle: StrategyHandle) -> None:
        for pod in handle.view.pods_on("a"):
            if ask(handle.evictor, pod):
                handle.evictor.request(pod, "because")

    def judge(pod: Pod) -> Verdict:
        asked.append(pod.name)
        return ACCEPTED

    decisions = decided(strategy(hook), judge=filtering(judge))

    assert len(decisions.moves) == 1
    assert asked == ["web"]


def test_name_of_an_exception_of_a_plugin_is_cut_and_prints() -> None:
    error = type("\x1b[2J\n" + "E" * 10**6, (Exception,), {})

    decisions = decided(strategy(raising(error())))

    assert failures(decisions) == ["plugin Foreign failed: \\x1b[2J\\n" + "E" * 95 + "..."]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(SystemExit(0), id="sys.exit"),
        pytest.param(KeyboardInterrupt(), id="an interrupt"),
        pytest.param(GeneratorExit(), id="the end of a generator"),
        pytest.param(MemoryError(), id="no memory"),
        pytest.param(ZeroDivisionError(), id="a bug"),
        pytest.param(RunStopped("time is over", 99), id="the end of the run"),
        pytest.param(PluginFault("Other", "is\x1b[2J\n" * 10_000), id="the fault of another plugin"),
        pytest.param(WrongAnswer("x" * 10**6), id="a wrong answer"),
    ],
)
def test_what_a_plugin_raises_is_its_own_fault(error: BaseException) -> None:
    decisions = decided(strategy(raising(error)))

    assert failures(decisions) == [f"plugin Foreign failed: {type(error).__name__}"]
    line = raising.__code__.co_firstlineno + 3
    assert decisions.failures[0].message.endswith(f" at tests/cycle/test_faulty_plugins.py:{line}")
    assert [move.pod.name for move in decisions.moves] == ["web"]
    assert ("p", "PodLifeTime") in decisions.facts


def test_endless_recursion_is_a_fault() -> None:
    assert failures(decided(strategy(recurse))) == ["plugin Foreign failed: RecursionError"]


def fabricated(handle: StrategyHandle) -> None:
    pod = handle.view.pods_on("a")[0]
    handle.evictor.request(replace(pod, owners=()), "because")


def endless(handle: StrategyHandle) -> None:
    pod = handle.view.pods_on("a")[0]
    handle.evictor.request_all(Candidate(pod, "again") for _ in itertools.count())


def nowhere(handle: StrategyHandle) -> None:
    handle.evictor.request_all([Candidate(handle.view.pods_on("a")[0], "there", "no-such-node", holds_target=True)])


@pytest.mark.parametrize(
    ("hook", "fault"),
    [
        pytest.param(asking(5), "the reason of an eviction is int, not text", id="a reason that is a number"),
        pytest.param(asking(None), "the reason of an eviction is NoneType, not text", id="no reason"),
        pytest.param(asking(["a"]), "the reason of an eviction is list, not text", id="a reason that is a list"),
        pytest.param(fabricated, "pod default/web is not one of the pods of the cluster that were read", id="no pod"),
        pytest.param(endless, "request_all() has more than 1 entries", id="bundles without end"),
        pytest.param(nowhere, "node no-such-node does not exist", id="a target that does not exist"),
        pytest.param(
            lambda handle: handle.evictor.request("web"), "a pod is str, not Pod", id="a name in place of a pod"
        ),
    ],
)
def test_request_that_makes_no_sense_evicts_nothing(hook: Hook, fault: str) -> None:
    decisions = decided(strategy(hook))

    assert failures(decisions) == [f"plugin Foreign failed: {fault}"]
    assert decisions.moves == ()


def test_long_reason_is_cut_off_with_a_note() -> None:
    plan = make_plan(decided(strategy(asking("x" * 10_000_000))))

    assert plan.moves[0].reason == f"{'x' * 1000}... (cut off: 10,000,000 characters)"


def test_reason_that_is_no_unicode_text_is_escaped() -> None:
    plan = make_plan(decided(strategy(asking("a\udc80"))))

    assert plan.moves[0].reason == "a\\udc80"
    assert json.loads(msgspec.json.encode(plan))["moves"][0]["reason"] == "a\\udc80"


NEAREST = NearestValue("key", float("nan"), 1, "pods", "a")


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        pytest.param(5, "facts() is int, not PluginFacts", id="a number"),
        pytest.param(
            PluginFacts("", 1, cast(int, "many")), "facts() is not a valid PluginFacts: Expected `int`", id="a text"
        ),
        pytest.param(PluginFacts("", 1, 1, nearest=(NEAREST,)), "a number of facts() is nan", id="no number"),
        pytest.param(
            PluginFacts("", 1, 1, counts={str(key): key for key in range(2000)}),
            "facts() has more than 1,000 entries",
            id="too many entries",
        ),
    ],
)
def test_facts_that_are_none_leave_the_evictions(facts: object, fault: str) -> None:
    decisions = decided(strategy(request_all_pods, facts))

    (failure,) = decisions.failures
    assert failure.message.startswith(f"plugin Foreign failed: {fault}")
    assert len(decisions.moves) == 1
    assert msgspec.json.encode(make_plan(decisions))


@pytest.mark.parametrize("note", [pytest.param("text", id="a text"), pytest.param(b"{", id="no JSON")])
def test_note_that_cannot_be_kept_is_a_fault(note: object) -> None:
    assert len(failures(decided(strategy(request_all_pods, note=note)))) == 1


def test_words_of_a_strategy_that_cannot_work_are_cut_off() -> None:
    def hook(handle: StrategyHandle) -> None:
        del handle
        raise StrategyError("x" * 10_000)

    (failure,) = decided(strategy(hook)).failures

    assert failure.message == f"{'x' * 1000}... (cut off: 10,000 characters)"


def leave(pod: Pod) -> object:
    raise SystemExit(pod.name)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        pytest.param(leave, "SystemExit", id="sys.exit"),
        pytest.param(lambda pod: None, "the verdict is NoneType, not Verdict", id="nothing"),
        pytest.param(lambda pod: True, "the verdict is bool, not Verdict", id="a truth"),
        pytest.param(
            lambda pod: Verdict(cast(Reason, "BarePod"), "no"),
            "the reason of the verdict is str, not Reason",
            id="a code",
        ),
    ],
)
def test_filter_that_fails_lets_no_pod_go(answer: Callable[[Pod], object], fault: str) -> None:
    decisions = decided(strategy(request_all_pods), judge=filtering(answer))

    assert failures(decisions) == [f"plugin Judge failed: {fault}"]
    assert [each.verdict.reason for each in decisions.refusals] == [Reason.PLUGIN_FAILED]
    assert decisions.moves == ()


def test_filter_that_cannot_be_built_lets_no_pod_go() -> None:
    class Unbuilt:
        def __init__(self, args: object, handle: object) -> None:
            raise SystemExit

    decisions = decided(strategy(request_all_pods), judge=Unbuilt)

    assert failures(decisions) == ["plugin Judge failed: SystemExit"]
    assert decisions.moves == ()


def test_strategy_without_the_method_of_its_point_is_a_fault() -> None:
    class Misspelt:
        def __init__(self, args: object, handle: object) -> None:
            """Reads neither."""

        def descedule(self, nodes: object) -> None:
            """Is never asked."""

    assert failures(decided(Misspelt)) == ["plugin Foreign failed: Misspelt has no method deschedule"]


def test_attribute_that_raises_is_a_fault() -> None:
    class Leaving(strategy(request_all_pods)):  # type: ignore[misc] # made by a function
        @property
        def JUDGES_PODS_ALONE(self) -> bool:  # noqa: N802 - the name that is asked for
            raise SystemExit

    assert failures(decided(Leaving)) == ["plugin Foreign failed: SystemExit"]
