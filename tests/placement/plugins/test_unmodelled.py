"""Plugins whose part is not modelled: their arguments are checked all the same."""

from __future__ import annotations

import pytest

from tests.placement.configuration.kube_scheduler.builders import problems, with_args


@pytest.mark.parametrize(
    ("args", "is_sound"),
    [
        pytest.param("{}", True, id="by default"),
        pytest.param("{minCandidateNodesPercentage: 0}", True, id="no share of the nodes, by default so many"),
        pytest.param("{minCandidateNodesAbsolute: 0}", True, id="no number of nodes, by default such a share"),
        pytest.param("{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}", True, id="one node"),
        pytest.param("{minCandidateNodesPercentage: 1, minCandidateNodesAbsolute: 0}", True, id="one percent"),
        pytest.param("{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}", False, id="no node at all"),
        pytest.param("{minCandidateNodesPercentage: 1, minCandidateNodesAbsolute: 1}", True, id="the same above 0"),
    ],
)
def test_preemption_needs_candidates(args: str, is_sound: bool) -> None:
    found = problems(with_args("DefaultPreemption", args))

    said = "minCandidateNodesPercentage: is 0, and so is minCandidateNodesAbsolute"
    assert [said in each for each in found] == ([] if is_sound else [True])
