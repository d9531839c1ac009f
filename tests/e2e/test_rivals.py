"""Rivals change a real cluster between the plan and the eviction: nothing is evicted in vain, nothing left pending.

Those that come while a Reservation holds room are in `peers/test_koord_rivals.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
import yaml

from tests.cronjob.manifests import OVERLAYS
from tests.e2e.binaries import Binaries
from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import ControlPlane, running
from tests.e2e.job_definition import POD_MIGRATION_JOBS
from tests.e2e.kube_api import condition, wait_until
from tests.e2e.rivals import assert_kept, play
from tests.migration.rivals.table import RIVALRIES


@pytest.fixture(scope="module")
def plane_with_jobs(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that knows PodMigrationJobs, and the class of placeholders."""
    with running(tmp_path_factory.mktemp("rivals"), binaries) as plane:
        plane.api.create(yaml.safe_load((OVERLAYS / "placeholder" / "priority-class.yaml").read_text()))
        plane.api.create(POD_MIGRATION_JOBS)
        wait_until("jobs are served", lambda: condition(plane.api.get(POD_MIGRATION_JOBS), "Established") == "True")
        yield plane


@pytest.fixture
def cluster_with_jobs(plane_with_jobs: ControlPlane) -> Iterator[Cluster]:
    """An empty cluster on it."""
    made = Cluster(plane_with_jobs, f"e2e-{uuid4().hex[:8]}")
    yield made
    made.clear()


@pytest.mark.parametrize("name", [name for name, each in RIVALRIES.items() if each.way != "reservations"])
def test_a_rival_has_nothing_evicted_in_vain(cluster_with_jobs: Cluster, name: str) -> None:
    played = play(cluster_with_jobs, RIVALRIES[name])

    assert_kept(cluster_with_jobs, RIVALRIES[name], played)
