"""Recorded scripts of PodMigrationJobs, played live: this program goes through the states of koord-descheduler."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.peers.koord_phases.plane import phases_plane
from tests.e2e.peers.koord_phases.table import play_all, recorded_scripts

_RECORDED = Path(__file__).parents[2] / "conformance" / "vectors" / "koordinator-migration.jsonl.gz"


def test_jobs_go_through_the_recorded_states(peer_binaries: Binaries, data_folder: Path) -> None:
    scripts = recorded_scripts(_RECORDED)
    with phases_plane(data_folder, peer_binaries) as plane:
        played = list(play_all(plane, scripts))

    assert len(played) == len(scripts)
    assert [str(each) for each in played if each.differences] == []
