"""Counts of placed pods follow every move, and every move taken back."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.pod import Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.placement.plugins.inter_pod_affinity.term_holders import TermHolders
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster
from descheduler.placement.shadow.tally import pod_columns, pod_tally
from descheduler.placement.shadow.tally.pod_tally import PodQuery
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.placement.clusters import make_cluster

NODES = [make_node(name) for name in ("a", "b", "c")]
WEB = LabelSelector((Requirement("app", "In", frozenset({"web"})),))

_values = st.sampled_from(["x", "y"])
_labels = st.dictionaries(st.sampled_from(["k", "l"]), _values)
_requirements = st.builds(
    Requirement,
    st.sampled_from(["k", "l"]),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.frozensets(_values, min_size=1),
)
_selectors = st.one_of(st.builds(LabelSelector, st.lists(_requirements, max_size=2).map(tuple)), st.just(NOTHING))
_namespaces = st.sampled_from(["n", "m"])
_queries = st.builds(
    PodQuery,
    st.one_of(st.none(), st.frozensets(_namespaces)),
    st.lists(_selectors, min_size=1, max_size=2).map(tuple),
    st.booleans(),
)
_affinities = st.sampled_from(
    [None, required_anti_affinity({"k": "x"}), required_anti_affinity({"l": "y"}, key="rack")]
)
_places = st.sampled_from(["a", "b", "c", "gone"])


@st.composite
def _pods(draw: st.DrawFn, prefix: str) -> list[Pod]:
    number = draw(st.integers(0, 6))
    return [
        make_pod(
            f"{prefix}{index}",
            namespace=draw(_namespaces),
            node=draw(_places),
            labels=draw(_labels),
            affinity=draw(_affinities),
            deleted=draw(st.sampled_from([None, 10])),
        )
        for index in range(number)
    ]


def _move(cluster: ShadowCluster, data: st.DataObject, placed: list[Pod], new: list[Pod]) -> None:
    """One random change that is possible: of the snapshot's pods, or a new one that comes."""
    kind = data.draw(st.sampled_from(["add", "remove", "terminate"]))
    if kind == "add" and new:
        cluster.add(new.pop(), data.draw(st.sampled_from([0, 1, 2, NO_NODE])))
    elif kind == "remove" and placed:
        cluster.remove(placed.pop())
    elif kind == "terminate" and placed:
        cluster.terminate(placed.pop())


def _recounted(cluster: ShadowCluster, pods: list[tuple[Pod, int, bool]], query: PodQuery) -> list[int]:
    counts = [0] * len(cluster.table)
    for pod, node, is_terminating in pods:
        if node != NO_NODE and query.covers(pod.namespace, pod.labels):
            counts[node] += query.counts_terminating or not is_terminating
    return counts


def _counts(groups: PodCounts, query: PodQuery) -> list[int]:
    """Pods by node that `query` finds."""
    found = groups.found(query)
    by_node = dict(zip(found.nodes.tolist(), found.numbers.tolist(), strict=True))
    assert 0 not in by_node.values()
    return [by_node.get(node, 0) for node in range(len(NODES))]


class _Ledger:
    """A follower that remembers pods one by one."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self.pods: list[tuple[Pod, int, bool]] = []

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        self.pods.append((pod, node, is_terminating))

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        self.pods.remove((pod, node, is_terminating))

    def fingerprint(self) -> object:
        return sorted((pod.name, node, is_terminating) for pod, node, is_terminating in self.pods)


@pytest.mark.long
@given(_pods("old"), _pods("new"), st.lists(_queries, min_size=1, max_size=3), st.data())
def test_counts_after_any_moves_are_those_of_counting_again(
    placed: list[Pod], new: list[Pod], queries: list[PodQuery], data: st.DataObject
) -> None:
    cluster = make_cluster(NODES, placed)
    ledger, groups = cluster.follow(_Ledger), cluster.follow(PodCounts)

    with mock.patch.object(pod_tally, "_FEW_GROUPS", data.draw(st.sampled_from([-1, 1, 8]))):
        for query in queries:
            groups.found(query)  # from here on the answers are kept up to date
        for _ in range(data.draw(st.integers(0, 8))):
            _move(cluster, data, placed, new)

        assert [_counts(groups, query) for query in queries] == [
            _recounted(cluster, ledger.pods, query) for query in queries
        ]


@pytest.mark.long
@given(_pods("old"), _pods("new"), _queries, st.data())
def test_what_if_leaves_the_digest_and_the_counts_as_they_were(
    placed: list[Pod], new: list[Pod], query: PodQuery, data: st.DataObject
) -> None:
    cluster = make_cluster(NODES, placed)
    groups = cluster.follow(PodCounts)
    cluster.follow(TermHolders)
    for _ in range(data.draw(st.integers(0, 3))):
        _move(cluster, data, placed, new)
    before = cluster.digest(), _counts(groups, query)
    trial = cluster.what_if()

    for _ in range(data.draw(st.integers(1, 8))):
        _move(cluster, data, placed, new)
        if data.draw(st.booleans()):
            groups.found(query)
    trial.take_back()

    assert (cluster.digest(), _counts(groups, query)) == before


def test_digest_tells_where_a_pod_is_and_whether_it_is_leaving() -> None:
    pod = make_pod("web", labels={"app": "web"})
    digests = set()

    for change in ("none", "terminate", "remove"):
        cluster = make_cluster(NODES, [pod])
        cluster.follow(PodCounts)
        if change != "none":
            getattr(cluster, change)(pod)
        digests.add(cluster.digest())

    assert len(digests) == 3


def test_pods_on_unknown_nodes_are_not_counted() -> None:
    cluster = make_cluster(NODES, [make_pod("web", node="gone", labels={"app": "web"})])

    counts = _counts(cluster.follow(PodCounts), PodQuery(None, (WEB,), counts_terminating=True))

    assert counts == [0, 0, 0]


def test_answer_that_gave_way_to_others_is_summed_up_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_tally, "_FEW_GROUPS", -1)
    monkeypatch.setattr(pod_columns, "_MOST_CELLS", 0)
    monkeypatch.setattr(pod_columns, "_LEAST_COLUMNS", 1)
    pods = [make_pod(f"web-{index}", labels={"app": "web"}) for index in range(3)]
    cluster = make_cluster(NODES, pods)
    groups = cluster.follow(PodCounts)
    webs = PodQuery(None, (WEB,), counts_terminating=True)
    groups.found(webs)

    groups.found(PodQuery(None, (NOTHING,), counts_terminating=True))
    cluster.remove(pods[0])

    assert _counts(groups, webs) == [2, 0, 0]
