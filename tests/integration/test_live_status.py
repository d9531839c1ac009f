"""What live runs leave for `descheduler status`: one ConfigMap beside the Lease."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.report.outcome.status_document import MOST_RUNS
from tests.integration.fake_api import FakeApi
from tests.integration.fake_objects import CONFIG_MAPS
from tests.integration.faults import failure
from tests.integration.live_runs import FAST, crowded_cluster, run, serve, taint_policy
from tests.policy.builders import koordinator

WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system"))
PLACE = ("kube-system", "d-status")
DRY = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: MigrationController, args: {dryRun: true}}
      plugins:
        deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}
    """
)


def kept_runs(fake_api: FakeApi) -> list[dict[str, Any]]:
    """The runs in the ConfigMap, the latest first."""
    kept = fake_api.config_maps.objects.get(PLACE)
    return [] if kept is None else list(json.loads(kept["data"]["status.json"])["runs"])


def about_status(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "status of this run" in note]


def test_run_leaves_what_it_did(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one", "two"))

    result = run(client, taint_policy(), options=WITH_LEASE)

    [kept] = kept_runs(fake_api)
    assert kept["planned"] == kept["counts"]["evicted"] == 2
    assert kept["policyDigest"] == result.decisions.policy.digest
    assert [(plugin["plugin"], plugin["counts"]["evicted"]) for plugin in kept["plugins"]] == [
        ("RemovePodsViolatingNodeTaints", 2)
    ]
    assert kept["stoppedBy"] == ""
    assert kept["apiCalls"] > 2
    assert about_status(result.decisions.notes) == []


def test_only_the_latest_runs_are_kept_the_latest_first(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one"))

    for _ in range(MOST_RUNS + 2):
        run(client, taint_policy(), options=WITH_LEASE)

    kept = kept_runs(fake_api)
    assert len(kept) == MOST_RUNS
    assert {each["planned"] for each in kept} == {0}


def test_dry_run_by_its_flag_writes_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one"))

    run(client, taint_policy(), options=replace(WITH_LEASE, dry_run=True))

    assert kept_runs(fake_api) == []


def test_run_of_a_policy_that_is_dry_writes_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one"))

    run(client, DRY, options=WITH_LEASE)

    assert kept_runs(fake_api) == []


def test_run_that_may_not_write_it_evicts_and_says_so(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one"))
    fake_api.fail_always("GET", f"{CONFIG_MAPS}/d-status", failure(403, "Forbidden", "no"))

    result = run(client, taint_policy(), options=WITH_LEASE)

    assert [outcome.code.value for outcome in result.outcomes] == ["done"]
    [note] = about_status(result.decisions.notes)
    assert "resourceNames: [d-status]" in note


def test_status_that_nobody_can_read_is_replaced(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("one"))
    fake_api.config_maps.put("d-status", data={"status.json": "{broken", "theirs": "kept"})

    run(client, taint_policy(), options=WITH_LEASE)

    assert len(kept_runs(fake_api)) == 1
    assert fake_api.config_maps.objects[PLACE]["data"]["theirs"] == "kept"
