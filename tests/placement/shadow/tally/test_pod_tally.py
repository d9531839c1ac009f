"""Pods that queries find, and what one pod counts in them; whether their groups are few or many."""

from __future__ import annotations

import pytest

from descheduler.model.pod import Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.placement.shadow.tally import pod_tally
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery, PodSum, PodTally
from tests.builders import make_pod

NUM_NODES = 4
WEB, DB = (make_pod(app, labels={"app": app}) for app in ("web", "db"))
OTHER = make_pod("web", namespace="other", labels={"app": "web"})
EVERY = LabelSelector(())


def selecting(*apps: str) -> LabelSelector:
    return LabelSelector((Requirement("app", "In", frozenset(apps)),))


def query(
    *selectors: LabelSelector, namespaces: tuple[str, ...] | None = None, counts_terminating: bool = True
) -> PodQuery:
    return PodQuery(None if namespaces is None else frozenset(namespaces), selectors, counts_terminating)


def tally_of(*pods: tuple[Pod, int, int]) -> PodTally:
    """So many pods on these nodes."""
    tally = PodTally(NUM_NODES)
    for pod, node, number in pods:
        tally.change(pod, node, number, is_terminating=False)
    return tally


def by_node(found: FoundPods) -> list[int]:
    return [found.on(node) for node in range(NUM_NODES)]


@pytest.fixture(params=[True, False], ids=["few groups", "many groups"], autouse=True)
def _few_or_many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers, from groups one by one and from columns."""
    if not request.param:
        monkeypatch.setattr(pod_tally, "_FEW_GROUPS", -1)


@pytest.mark.parametrize(
    ("asked", "pods", "weights"),
    [
        pytest.param(query(selecting("web")), [2, 0, 5, 0], [1, 0, 1], id="a selector"),
        pytest.param(query(selecting("web"), namespaces=("other",)), [0, 0, 5, 0], [0, 0, 1], id="in a namespace"),
        pytest.param(query(selecting("web", "db"), selecting("db")), [0, 3, 0, 0], [0, 1, 0], id="two selectors"),
        pytest.param(query(EVERY, namespaces=("default", "gone")), [2, 3, 0, 0], [1, 1, 0], id="all of a namespace"),
        pytest.param(query(NOTHING), [0, 0, 0, 0], [0, 0, 0], id="nothing"),
        pytest.param(
            PodSum([(3, query(selecting("web"))), (-1, query(EVERY))]), [4, -3, 10, 0], [2, -1, 2], id="a sum"
        ),
        pytest.param(PodSum([(1, query(EVERY)), (-1, query(EVERY))]), [0, 0, 0, 0], [0, 0, 0], id="a sum of nothing"),
    ],
)
def test_queries_find_pods_by_node_and_say_what_each_counts(
    asked: PodQuery | PodSum, pods: list[int], weights: list[int]
) -> None:
    tally = tally_of((WEB, 0, 2), (DB, 1, 3), (OTHER, 2, 5))

    found = tally.found(asked)

    assert by_node(found) == pods
    assert sorted(found.nodes.tolist()) == [node for node, number in enumerate(pods) if number]
    assert [tally.weight(asked, pod) for pod in (WEB, DB, OTHER)] == weights


def test_groups_that_come_later_are_found_as_well() -> None:
    tally, asked = tally_of((DB, 1, 3)), query(selecting("web"))
    assert by_node(tally.found(asked)) == [0, 0, 0, 0]

    tally.change(WEB, 2, 1, is_terminating=False)
    assert by_node(tally.found(asked)) == [0, 0, 1, 0]
    tally.change(WEB, 2, 1, is_terminating=False)

    assert by_node(tally.found(asked)) == [0, 0, 2, 0]
    assert tally.weight(asked, WEB) == 1


@pytest.mark.parametrize(("counts_terminating", "pods"), [(True, [3, 0, 0, 0]), (False, [2, 0, 0, 0])])
def test_pods_that_are_being_deleted_count_where_the_query_says_so(counts_terminating: bool, pods: list[int]) -> None:
    tally = tally_of((WEB, 0, 2))
    tally.change(WEB, 0, 1, is_terminating=True)

    assert by_node(tally.found(query(EVERY, counts_terminating=counts_terminating))) == pods
    assert list(tally.held()) == [("default", WEB.labels, 0, 3, 1)]
