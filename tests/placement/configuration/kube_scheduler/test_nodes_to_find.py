"""How many nodes that fit the scheduler looks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.placement.configuration.kube_scheduler.configuration import nodes_to_find

from .builders import load, scheduler, with_plugins


@pytest.mark.parametrize(
    ("num_nodes", "percentage", "expected"),
    [
        pytest.param(0, 0, 0, id="no nodes"),
        pytest.param(99, 1, 99, id="all nodes of a small cluster"),
        pytest.param(100, 1, 100, id="never fewer than a hundred"),
        pytest.param(200, 0, 100, id="200 nodes"),
        pytest.param(400, 0, 188, id="400 nodes"),
        pytest.param(1000, 0, 420, id="1,000 nodes"),
        pytest.param(5000, 0, 500, id="5,000 nodes"),
        pytest.param(20000, 0, 1000, id="never less than a twentieth"),
        pytest.param(1000, 30, 300, id="a given share"),
        pytest.param(1000, 100, 1000, id="all"),
    ],
)
def test_search_ends_after_a_share_of_the_nodes(num_nodes: int, percentage: int, expected: int) -> None:
    assert nodes_to_find(num_nodes, percentage) == expected


@given(st.integers(0, 50_000), st.integers(0, 100))
def test_search_never_asks_for_more_nodes_than_there_are_nor_for_too_few(num_nodes: int, percentage: int) -> None:
    wanted = nodes_to_find(num_nodes, percentage)

    assert min(num_nodes, 100) <= wanted <= num_nodes


def test_share_of_the_profile_outranks_that_of_the_configuration() -> None:
    configuration = load(
        scheduler(
            """\
            percentageOfNodesToScore: 50
            profiles:
            - schedulerName: a
            - {schedulerName: b, percentageOfNodesToScore: 20}
            - {schedulerName: c, percentageOfNodesToScore: 0}
            """
        )
    )

    assert [configuration.nodes_to_find(profile, 1000) for profile in configuration.profiles] == [500, 200, 420]


@pytest.mark.parametrize(
    ("extenders", "expected"),
    [
        pytest.param("[]", 1, id="nothing to choose by"),
        pytest.param("[{urlPrefix: http://a, prioritizeVerb: p, weight: 1}]", 420, id="an extender that scores"),
        pytest.param("[{urlPrefix: http://a, filterVerb: f}]", 420, id="an extender that filters"),
        pytest.param("[{urlPrefix: http://a, bindVerb: b}]", 1, id="an extender that binds"),
    ],
)
def test_first_node_that_fits_is_taken_where_nothing_chooses(extenders: str, expected: int) -> None:
    text = with_plugins("{score: {disabled: [{name: '*'}]}}") + f"extenders: {extenders}\n"

    configuration = load(text)

    assert configuration.nodes_to_find(configuration.profiles[0], 1000) == expected
