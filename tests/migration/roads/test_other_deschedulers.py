"""Whether koord-descheduler runs beside this program, by its Lease."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.roads.users_jobs import runs_koord_descheduler
from tests.builders import NOW
from tests.living.builders import living_cluster
from tests.living.clock import rfc3339


@pytest.mark.parametrize(
    ("holder", "seconds", "runs"),
    [("koord", 15, True), ("koord", 16, False), ("", 0, False)],
    ids=["to the end of the Lease", "after it", "nobody holds it"],
)
def test_koord_descheduler_runs_while_somebody_holds_its_lease(holder: str, seconds: int, runs: bool) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "koord-descheduler", "namespace": "koordinator-system", "uid": "lease"},
        "spec": {"holderIdentity": holder, "renewTime": rfc3339(NOW), "leaseDurationSeconds": 15},
    }
    objects = ObjectCalls(living_cluster(1, (), [lease], acts=False, settle_seconds=0.0).client())

    assert runs_koord_descheduler(objects, NOW + timedelta(seconds=seconds)) is runs
