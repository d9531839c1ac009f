"""What live runs remember: how often nodes were overutilized, from one run of a CronJob to the next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.remembering import KeptMemory, recall
from descheduler.kube.client import KubeClient
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.stored_object import ConfigMapStore
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.plan.run_memory import RunMemory
from descheduler.supervision import Watch
from tests.builders import NOW, Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.fake_objects import CONFIG_MAPS
from tests.integration.faults import failure
from tests.integration.live_runs import FAST, run, serve, taint_policy
from tests.policy.builders import koordinator
from tests.worlds.node_metrics import node_metric_object

METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
MINE = "d-memory"
WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system"))
MINUTES = timedelta(minutes=1)
POLICY = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - name: LowNodeLoad
        args:
          lowThresholds: {cpu: 20}
          highThresholds: {cpu: 70}
          anomalyCondition: {consecutiveAbnormalities: 2}
      plugins:
        balance: {enabled: [{name: LowNodeLoad}]}
        evict: {enabled: [{name: DefaultEvictor}], disabled: [{name: "*"}]}
        filter: {enabled: [{name: DefaultEvictor}], disabled: [{name: "*"}, {name: PlacementVerification}]}
    """
)


class Killed(BaseException):
    """The end of a run that nobody catches."""


def killed(*_: object) -> None:
    """In the place of a call before which the run ends."""
    raise Killed


def loaded(minute: float) -> list[Object]:
    """The NodeMetrics of a minute in which node `hot` has too much to do."""
    now = NOW + minute * MINUTES
    return [
        node_metric_object("hot", {"default/p": {"cpu": "1"}}, system={"cpu": "2500m"}, now=now),
        node_metric_object("cold", system={"cpu": "100m"}, now=now),
    ]


def serve_cluster(fake_api: FakeApi) -> None:
    serve(fake_api, node_object("hot"), node_object("cold"), pod_object("p", node="hot"))


def run_at(
    fake_api: FakeApi, client: KubeClient, minute: float, *, options: RunOptions = WITH_LEASE, policy: str = POLICY
) -> RunResult:
    """A run at a minute after NOW, in which node `hot` has too much to do."""
    fake_api.objects[METRICS] = loaded(minute)
    return run(client, policy, options=options, now=NOW + minute * MINUTES)


def run_every(fake_api: FakeApi, client: KubeClient, minutes: Sequence[float], **others: Any) -> list[list[str]]:
    """The pods that runs at these minutes evict."""
    results = [run_at(fake_api, client, minute, **others) for minute in minutes]
    return [[move.pod.name for move in result.decisions.moves] for result in results]


def kept_notes(fake_api: FakeApi) -> dict[str, Any]:
    """What the ConfigMap holds."""
    kept: dict[str, Any] = json.loads(fake_api.config_maps.objects["kube-system", MINE]["data"]["memory.json"])["notes"]
    return kept


def notes_about_memory(result: RunResult) -> list[str]:
    """What operators are told of it."""
    return [note for note in result.decisions.notes if "memory" in note]


@pytest.mark.parametrize("minutes", [pytest.param(m, id=f"every {m} minutes") for m in (1, 5, 15, 60)])
def test_node_that_is_loaded_in_more_runs_than_the_condition_says_is_relieved(
    fake_api: FakeApi, client: KubeClient, minutes: int
) -> None:
    serve_cluster(fake_api)

    assert run_every(fake_api, client, [0, minutes, 2 * minutes]) == [[], [], ["p"]]


def test_schedule_may_jitter(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)

    assert run_every(fake_api, client, [0, 15.2, 29.9]) == [[], [], ["p"]]


def test_runs_that_are_days_apart_start_anew(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)
    day = 24 * 60

    assert run_every(fake_api, client, [0, day, 2 * day, 3 * day]) == [[], [], [], []]


def test_memory_is_one_config_map_beside_the_lease(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)

    run_at(fake_api, client, 0)
    run_at(fake_api, client, 5)

    assert set(fake_api.config_maps.objects) == {("kube-system", MINE), ("kube-system", "d-status")}
    kept = json.loads(fake_api.config_maps.objects["kube-system", MINE]["data"]["memory.json"])
    at = (NOW + 5 * MINUTES).timestamp()
    (note,) = kept["notes"].values()
    assert kept["version"] == "descheduler.memory/v2"
    assert next(iter(kept["notes"])).startswith("p/LowNodeLoad/")
    assert note == {"savedAt": "2026-06-30T12:05:00Z", "note": {"node": {"hot": [2, 0, None, at]}, "prod": {}}}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(POLICY.replace("name: p\n", "name: q\n"), id="another profile"),
        pytest.param(POLICY.replace("cpu: 70", "cpu: 69"), id="a profile of the same name"),
        pytest.param(
            POLICY.replace("profiles:", "nodeSelector: {matchLabels: {}}\nprofiles:"), id="the same on other nodes"
        ),
    ],
)
def test_policies_with_one_lease_keep_their_own_memory(fake_api: FakeApi, client: KubeClient, other: str) -> None:
    serve_cluster(fake_api)

    evicted = [
        run_every(fake_api, client, [minute], policy=policy) for minute in (0, 5, 10) for policy in (POLICY, other)
    ]

    assert evicted[:4] == [[[]]] * 4
    assert evicted[4] == [["p"]]


def test_memory_outlasts_edits_of_the_policy_elsewhere(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)
    edited = POLICY.replace("profiles:", "maxNoOfPodsToEvictTotal: 7\nprofiles:")

    assert run_every(fake_api, client, [0, 5]) == [[], []]
    assert run_every(fake_api, client, [10], policy=edited) == [["p"]]


def test_run_that_is_killed_before_it_writes_leaves_the_memory_of_the_run_before(
    fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_cluster(fake_api)
    run_at(fake_api, client, 0)
    before = fake_api.config_maps.objects["kube-system", MINE]

    with monkeypatch.context() as patched:
        patched.setattr(ConfigMapStore, "update", killed)
        with pytest.raises(Killed):
            run_at(fake_api, client, 5)

    assert fake_api.config_maps.objects["kube-system", MINE] == before
    assert run_every(fake_api, client, [10, 15]) == [[], ["p"]]


def test_dry_run_reads_the_memory_and_leaves_it_as_it_is(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)
    run_every(fake_api, client, [0, 5])
    before = fake_api.config_maps.objects["kube-system", MINE]

    assert run_every(fake_api, client, [10], options=replace(WITH_LEASE, dry_run=True)) == [["p"]]
    assert fake_api.config_maps.objects["kube-system", MINE] == before


def test_run_without_a_lease_remembers_nothing_and_says_so(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)

    result = run_at(fake_api, client, 0, options=FAST)

    assert not [request for request in fake_api.requests if "configmaps" in request.path]
    assert result.decisions.facts["p", "LowNodeLoad"].why_nothing == (
        "1 node is overutilized for 1 run; pods are evicted from 3 runs in a row on "
        "(anomalyCondition.consecutiveAbnormalities: 2); "
        "nothing is remembered from one run to the next without a Lease"
    )


def test_policy_whose_plugins_remember_nothing_asks_for_no_memory(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)

    run_at(fake_api, client, 0, policy=taint_policy())

    assert not [request for request in fake_api.requests if MINE in request.path]


@pytest.mark.parametrize(
    ("data", "note"),
    [
        pytest.param(
            {"memory.json": "{"},
            "ConfigMap kube-system/d-memory holds no memory that can be read, so this run starts without: "
            "it is damaged: Input data was truncated",
            id="damaged",
        ),
        pytest.param(
            {"memory.json": '{"version": "descheduler.memory/v2", "notes": {"p": ' + "[" * 500_000},
            "ConfigMap kube-system/d-memory holds no memory that can be read, so this run starts without: "
            "it is damaged: maximum recursion depth exceeded while deserializing an object",
            id="hostile",
        ),
        pytest.param(
            {"memory.json": "x" * 2_000_000},
            "ConfigMap kube-system/d-memory holds no memory that can be read, so this run starts without: "
            "it has 2,000,000 characters, 900,000 are allowed",
            id="two megabytes",
        ),
        pytest.param(
            {"memory.json": '{"version": "descheduler.memory/v2", "notes": {"p/LowNodeLoad/0": 7}}'},
            "ConfigMap kube-system/d-memory holds no memory that can be read, so this run starts without: "
            "it is damaged: Expected `object`, got `int` - at `$.notes[...]`",
            id="of wrong types",
        ),
        pytest.param(
            {"policy.yaml": "x"},
            "ConfigMap kube-system/d-memory has no key memory.json and is left alone; delete it, or name another Lease",
            id="foreign",
        ),
    ],
)
def test_what_is_no_memory_is_told_and_the_run_starts_without(
    fake_api: FakeApi, client: KubeClient, data: dict[str, str], note: str
) -> None:
    serve_cluster(fake_api)
    fake_api.config_maps.put(MINE, data=data)

    result = run_at(fake_api, client, 0)

    assert notes_about_memory(result) == [note]
    kept = fake_api.config_maps.objects["kube-system", MINE]
    assert ("memory.json" in kept["data"] and kept["data"] != data) == ("memory.json" in data)
    assert kept["metadata"]["labels"] == {"kept": "yes"}


def test_right_that_is_missing_is_named_and_stops_no_run(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)
    fake_api.fail_always("GET", f"{CONFIG_MAPS}/{MINE}", failure(403, "Forbidden", "no"))

    result = run_at(fake_api, client, 0)

    assert notes_about_memory(result) == [
        "the memory of earlier runs cannot be read, so this run starts without and keeps none: "
        "not allowed to get ConfigMap kube-system/d-memory (RBAC); "
        "add these rules to a Role in namespace kube-system:\n"
        '- {apiGroups: [""], resources: [configmaps], verbs: [create]}\n'
        '- {apiGroups: [""], resources: [configmaps], resourceNames: [d-memory], verbs: [get, update]}'
    ]


def test_config_map_that_somebody_changes_meanwhile_is_written_all_the_same(
    fake_api: FakeApi, client: KubeClient
) -> None:
    serve_cluster(fake_api)
    run_at(fake_api, client, 0)
    fake_api.fail_next("PUT", f"{CONFIG_MAPS}/{MINE}", failure(409, "Conflict", "changed"))

    result = run_at(fake_api, client, 5)

    assert notes_about_memory(result) == []
    (note,) = kept_notes(fake_api).values()
    assert note["savedAt"] == "2026-06-30T12:05:00Z"


def test_notes_of_a_run_that_wrote_between_reading_and_writing_stay(fake_api: FakeApi, client: KubeClient) -> None:
    serve_cluster(fake_api)
    run_at(fake_api, client, 0)
    kept = recall(client, LeaseSettings("kube-system", "d"), Watch())
    run_at(fake_api, client, 1, policy=POLICY.replace("name: p\n", "name: q\n"))
    fake_api.fail_next("PUT", f"{CONFIG_MAPS}/{MINE}", failure(409, "Conflict", "changed"))

    notes = kept.keep(kept.memory.after(NOW + 2 * MINUTES, {"r": b"1"}), Watch(), why_not=lambda: "")

    assert notes == ()
    assert [key.partition("/")[0] for key in kept_notes(fake_api)] == ["p", "q", "r"]


def test_run_that_lost_its_lease_does_not_write(fake_api: FakeApi, client: KubeClient) -> None:
    kept = KeptMemory(RunMemory(), ConfigMapStore(client, "kube-system", MINE))

    notes = kept.keep(
        RunMemory().after(NOW, {"p": b"1"}), Watch(), why_not=lambda: "lease kube-system/d was taken over by other"
    )

    assert notes == ("the memory of this run is not kept: lease kube-system/d was taken over by other",)
    assert fake_api.requests == []
