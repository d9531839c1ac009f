"""A plan of MigrationPlanner, carried out on a real control plane with room held by placeholders."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.balancing.contenders import TARGET_PERCENT, planner
from tests.e2e.balancing.play import play, uneven_cluster
from tests.e2e.binaries import Binaries


def test_plans_bring_all_nodes_under_their_target_and_leave_no_pod_pending(
    binaries: Binaries, data_folder: Path
) -> None:
    """The real scheduler may place a replacement on another node than the plan expects; the next run sees to that."""
    with uneven_cluster(data_folder, binaries, nodes=12, seed=1, mean_ratio=0.55) as plane:
        played = play(plane, planner(), most_runs=5)

    assert played.before.over(TARGET_PERCENT)
    assert not played.after.over(TARGET_PERCENT)
    assert not played.after.pending
    assert [each.num_evicted for each in played.rounds] == [each.num_planned for each in played.rounds]
