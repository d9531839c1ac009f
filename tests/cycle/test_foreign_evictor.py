"""The evictor of plugins that are not of this program: what they hand over is looked at before anybody judges it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.cycle.foreign.evictor import ForeignEvictor
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Candidate
from descheduler.policy.plugin_faults import WrongAnswer
from tests.builders import make_node, make_pod, make_view

WEB, DB, PENDING = make_pod("web"), make_pod("db", node="b"), make_pod("pending", node="")
REFUSED = refuse(Reason.BARE_POD, "has no owner", "default/web")


class Inner(PluginEvictor):
    """Refuses pods by name, in the filter or in the pre-eviction filter, and grants every request."""

    def __init__(self, filtered: str = "", filtered_now: str = "") -> None:
        self.profile_index = 0
        self.asked: list[str] = []
        self.granted: list[tuple[Candidate, ...]] = []
        self.kept: list[tuple[str, str]] = []
        self._filtered, self._filtered_now = filtered, filtered_now

    def filter(self, pod: Pod) -> Verdict:
        self.asked.append(f"filter {pod.name}")
        return REFUSED if pod.name == self._filtered else ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        self.asked.append(f"now {pod.name}")
        return REFUSED if pod.name == self._filtered_now else ACCEPTED

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        assert verdict == REFUSED
        self.kept.append((candidate.name, reason))

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        self.granted.append(tuple(candidates))
        return ACCEPTED


def view() -> ClusterView:
    """Two nodes with a pod each, and a pod that is pending."""
    return make_view([make_node("a"), make_node("b")], [WEB, DB, PENDING])


def evictor(inner: Inner) -> ForeignEvictor:
    """The evictor that a plugin gets."""
    return ForeignEvictor(inner, view())


@pytest.mark.parametrize(
    ("ahead", "asked"),
    [
        pytest.param((), ["filter web", "now web"], id="nobody has asked"),
        pytest.param(("filter",), ["filter web", "now web"], id="the filter was asked"),
        pytest.param(("pre_eviction_filter",), ["now web", "filter web"], id="the other filter was asked"),
        pytest.param(("filter", "pre_eviction_filter"), ["filter web", "now web"], id="both were asked"),
    ],
)
def test_each_filter_is_asked_once_before_a_request_is_granted(ahead: tuple[str, ...], asked: list[str]) -> None:
    inner = Inner()
    foreign = evictor(inner)
    for name in ahead:
        getattr(foreign, name)(WEB)

    assert foreign.request(WEB, "on spot") is ACCEPTED
    assert inner.asked == asked
    assert inner.granted == [(Candidate(WEB, "on spot"),)]


@pytest.mark.parametrize(
    ("inner", "asked"),
    [
        pytest.param(Inner(filtered="web"), ["filter web", "filter web"], id="the filter"),
        pytest.param(Inner(filtered_now="web"), ["filter web", "now web", "now web"], id="the pre-eviction filter"),
    ],
)
def test_refusal_holds_for_a_plugin_that_asks_all_the_same(inner: Inner, asked: list[str]) -> None:
    foreign = evictor(inner)
    if foreign.filter(WEB).is_accepted:
        foreign.pre_eviction_filter(WEB)

    assert foreign.request(WEB, "on spot") == REFUSED
    assert (inner.granted, inner.kept, inner.asked) == ([], [("web", "on spot")], asked)


@pytest.mark.parametrize("inner", [Inner(filtered="db"), Inner(filtered_now="db")], ids=["at all", "now"])
def test_bundle_stays_whole_where_one_of_its_pods_has_to(inner: Inner) -> None:
    verdict = evictor(inner).request_all([Candidate(WEB, "one"), Candidate(DB, "two")])

    assert verdict == REFUSED
    assert (inner.granted, inner.kept) == ([], [("web", "one"), ("db", "two")])


def test_empty_bundle_is_granted_without_asking() -> None:
    inner = Inner()

    assert evictor(inner).request_all([]) is ACCEPTED
    assert inner.granted == []


def test_refusal_of_the_plugin_s_own_is_noted() -> None:
    inner = Inner()

    evictor(inner).keep(WEB, REFUSED, "on spot")

    assert inner.kept == [("web", "on spot")]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({}, id="nothing but the pod"),
        pytest.param({"target_node": "b", "holds_target": True}, id="a target"),
        pytest.param({"wave": 1_000_000}, id="the last wave that there may be"),
        pytest.param({"cost": 0}, id="a cost"),
        pytest.param({"rooms": (HeldRoom(DB, "a"), HeldRoom(PENDING, ""))}, id="rooms"),
        pytest.param({"serves": (DB, PENDING, WEB)}, id="as many pods as there are"),
    ],
)
def test_candidate_that_makes_sense_is_handed_on(facts: dict[str, Any]) -> None:
    inner = Inner()

    evictor(inner).request_all([Candidate(WEB, **facts)])

    assert inner.granted == [(Candidate(WEB, **facts),)]


def test_plugin_cannot_say_that_others_have_selected_a_pod() -> None:
    inner = Inner()

    evictor(inner).request_all([Candidate(WEB, is_mate=True)])

    assert inner.granted == [(Candidate(WEB),)]


@pytest.mark.parametrize("pod", [WEB, PENDING], ids=["bound", "pending"])
def test_pods_of_the_cluster_are_known_by_themselves(pod: Pod) -> None:
    foreign = evictor(Inner())

    assert foreign.filter(pod).is_accepted
    with pytest.raises(WrongAnswer, match=f"pod default/{pod.name} is not one of the pods of the cluster"):
        foreign.filter(replace(pod))


def test_pod_that_comes_for_an_evicted_one_is_known() -> None:
    cluster = make_view([make_node("a"), make_node("b")], [WEB], moves_take_effect=True)
    foreign = ForeignEvictor(Inner(), cluster)
    arrival = replace(WEB, name="web-2", uid="web-2", node_name="b")

    with pytest.raises(WrongAnswer):
        foreign.filter(arrival)
    cluster.book_eviction(WEB, arrival)
    assert foreign.filter(arrival).is_accepted


@pytest.mark.parametrize(
    ("candidate", "fault"),
    [
        pytest.param(WEB, "a candidate is Pod, not Candidate", id="a pod as a candidate"),
        pytest.param(Candidate(cast(Pod, "web")), "a pod is str, not Pod", id="a name as a pod"),
        pytest.param(
            Candidate(WEB, cast(str, 5)), "the reason of an eviction is int, not text", id="a number as reason"
        ),
        pytest.param(Candidate(WEB, target_node="c"), "node c does not exist", id="no node"),
        pytest.param(Candidate(WEB, target_node=cast(str, 5)), "target_node is int, not text", id="a number as node"),
        pytest.param(
            Candidate(WEB, wave=0), "the wave of a candidate is 0, which is not between 1 and 1,000,000", id="wave 0"
        ),
        pytest.param(
            Candidate(WEB, wave=1_000_001),
            "the wave of a candidate is 1000001, which is not between 1 and 1,000,000",
            id="a wave beyond all",
        ),
        pytest.param(
            Candidate(WEB, wave=cast(int, "1")), "the wave of a candidate is str, not int", id="a text as wave"
        ),
        pytest.param(
            Candidate(WEB, cost=cast(int, "1")), "the cost of a candidate is str, not int", id="a text as cost"
        ),
        pytest.param(Candidate(WEB, rooms=(cast(HeldRoom, WEB),)), "a room is Pod, not HeldRoom", id="a pod as a room"),
        pytest.param(Candidate(WEB, rooms=(HeldRoom(WEB, "c"),)), "node c does not exist", id="a room on no node"),
        pytest.param(
            Candidate(WEB, rooms=(HeldRoom(replace(WEB), "a"),)),
            "pod default/web is not one of the pods of the cluster that were read",
            id="a room for a copy of a pod",
        ),
        pytest.param(
            Candidate(WEB, serves=(replace(DB),)),
            "pod default/db is not one of the pods of the cluster that were read",
            id="a copy that is served",
        ),
        pytest.param(
            Candidate(WEB, serves=(WEB,) * 4), "serves has more than 3 entries", id="more pods than there are"
        ),
        pytest.param(
            Candidate(WEB, rooms=(HeldRoom(WEB, "a"),) * 4), "rooms has more than 3 entries", id="more rooms than pods"
        ),
    ],
)
def test_candidate_that_makes_no_sense_is_refused(candidate: Any, fault: str) -> None:
    inner = Inner()

    with pytest.raises(WrongAnswer) as raised:
        evictor(inner).request_all([candidate])

    assert str(raised.value) == fault
    assert inner.granted == []


def test_bundle_has_no_more_pods_than_the_cluster() -> None:
    with pytest.raises(WrongAnswer, match=r"request_all\(\) has more than 3 entries"):
        evictor(Inner()).request_all([Candidate(WEB)] * 4)


@pytest.mark.parametrize(
    ("pod", "verdict", "fault"),
    [
        pytest.param(WEB, ACCEPTED, "keep() was told that the pod can be evicted", id="an acceptance"),
        pytest.param(WEB, None, "the verdict is NoneType, not Verdict", id="no verdict"),
        pytest.param(
            replace(WEB), REFUSED, "pod default/web is not one of the pods of the cluster that were read", id="a copy"
        ),
    ],
)
def test_refusal_that_makes_no_sense_is_not_noted(pod: Pod, verdict: Any, fault: str) -> None:
    inner = Inner()

    with pytest.raises(WrongAnswer) as raised:
        evictor(inner).keep(pod, verdict)

    assert str(raised.value) == fault
    assert inner.kept == []
