"""Both programs, live and from the same state, choose the same pods (all cases: `tests.bench.peer.decisions`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.peer.decision_cases import DecisionCase, make_cases
from tests.bench.peer.decisions import compare
from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running

# Pods judged one by one, as a group and by their node; and several plugins whose evictions are refused.
_NUMBERS = (4, 23, 25, 32)


@pytest.fixture(scope="module")
def still_plane(peer_binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server over etcd in which only the programs change anything."""
    with running(tmp_path_factory.mktemp("decisions"), peer_binaries, parts=STORE) as plane:
        yield plane


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case)) for case in make_cases() if case.number in _NUMBERS])
def test_same_pods_are_asked_to_leave_as_upstream_asks(
    case: DecisionCase, still_plane: ControlPlane, tmp_path: Path
) -> None:
    comparison = compare(case, still_plane, tmp_path)

    assert comparison.of_ours.asked, "a case that moves nothing shows nothing"
    assert comparison.difference == ""
