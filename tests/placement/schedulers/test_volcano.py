"""Volcano as a row of the table of schedulers: its file, its release, and what a verified dry run says of its pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.volcano import VolcanoConfiguration, load_volcano_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.configured import load_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from descheduler.policy.load import load_policy
from tests.builders import NOW
from tests.placement.volcano.cycle.cycle import ACTIONS, run_cycle
from tests.placement.volcano.worlds import Object, group, node, owned, pods, snapshot_of

SEED = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
WORLD: list[Object] = [
    node("a", cpu="4"),
    node("b", cpu="4"),
    group("job", least=2, phase="Running"),
    *owned(pods("job", 3, on="a")),
]


def _config_map(text: str) -> str:
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    metadata = "metadata:\n  name: volcano-scheduler-configmap\n"
    return f"apiVersion: v1\nkind: ConfigMap\n{metadata}data:\n  volcano-scheduler.conf: |\n{indented}"


@pytest.mark.parametrize(
    "text", [pytest.param(SEED, id="by itself"), pytest.param(_config_map(SEED), id="inside its ConfigMap")]
)
def test_a_volcano_scheduler_conf_configures_volcano_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "volcano-scheduler.conf"
    file.write_text(text)

    configuration = load_configuration(file, KubeVersion(), PLUGINS)

    read = configuration.others["volcano"]
    assert isinstance(read, VolcanoConfiguration)
    assert read.actions == ("enqueue", "allocate", "preempt", "reclaim", "backfill")
    assert [[plugin.name for plugin in tier] for tier in read.tiers] == [
        ["priority", "gang", "conformance"],
        ["drf", "predicates", "proportion", "nodeorder", "binpack"],
    ]
    assert [profile.scheduler_name for profile in configuration.profiles] == ["default-scheduler"]


SHIPPED = Path("config/schedulers/volcano-scheduler.conf")


def test_the_shipped_configuration_is_the_one_of_the_seed_word_for_word() -> None:
    assert [line for line in SHIPPED.read_text().splitlines() if not line.startswith("#")] == SEED.splitlines()


def test_all_actions_and_plugins_of_the_seed_are_modelled_and_run() -> None:
    configuration = load_volcano_configuration(SEED, modelled=VOLCANO_PLUGINS)
    waiting = [group("late", least=2, phase="Pending"), *pods("late", 2)]

    session = Session(ShadowCluster(snapshot_of(WORLD, waiting)), configuration, plugins=VOLCANO_PLUGINS)
    run_cycle(session)
    session.close()

    assert (configuration.unmodelled, configuration.unmeasured) == ((), ())
    assert set(configuration.actions) == set(ACTIONS)
    assert [[plugin.option.name for plugin in tier] for tier in session.tiers.tiers] == [
        ["priority", "gang", "conformance"],
        ["drf", "predicates", "proportion", "nodeorder", "binpack"],
    ]
    assert sorted(session.binds) == ["batch/late-0", "batch/late-1"]
    assert session.jobs["batch/late"].phase == "Running"


def _policy(folder: Path, **args: object) -> Path:
    verification: Mapping[str, object] = {"requireGain": False, **args}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {"nodeFit": False}},
                    {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                    {"name": "PlacementVerification", "args": verification},
                ],
                "plugins": {
                    "deschedule": {"enabled": ["PodLifeTime"]},
                    "preevictionfilter": {"enabled": ["PlacementVerification"]},
                },
            }
        ],
    }
    file = folder / "policy.yaml"
    file.write_text(json.dumps(policy))
    return file


def _world() -> list[Object]:
    created = "2025-01-01T00:00:00Z"
    return [
        {**each, "metadata": {**each["metadata"], "creationTimestamp": created}} if each["kind"] == "Pod" else each
        for each in WORLD
    ]


def test_a_verified_dry_run_moves_a_task_and_says_what_it_assumes(tmp_path: Path) -> None:
    decisions = decide(load_policy(_policy(tmp_path), REGISTRY), snapshot_of(_world()), now=NOW)

    assert [move.landing.node for move in decisions.moves if move.landing] == ["b"]
    assert [note for note in decisions.notes if "volcano" in note] == [
        "the pods of scheduler volcano are checked by the default configuration of Volcano; name its"
        " volcano-scheduler.conf in schedulerConfigFile of PlacementVerification",
        "the pods of scheduler volcano are checked as Volcano 1.10 schedules them; name the release of the cluster in"
        " schedulerVersions of PlacementVerification",
    ]


def test_a_named_file_and_release_leave_nothing_to_assume(tmp_path: Path) -> None:
    (tmp_path / "volcano-scheduler.conf").write_text(SEED)
    named = {"schedulerConfigFile": "volcano-scheduler.conf", "schedulerVersions": {"volcano": "1.10"}}
    policy = load_policy(_policy(tmp_path, **named), REGISTRY)

    decisions = decide(policy, snapshot_of(_world()), now=NOW)

    assert decisions.moves
    assert not [note for note in decisions.notes if "volcano" in note]


def test_errors_of_the_file_have_its_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "volcano-scheduler.conf").write_text(_config_map('actions: "enqueue, alocate"\n'))

    with pytest.raises(PolicyError) as caught:
        load_policy(_policy(tmp_path, schedulerConfigFile="volcano-scheduler.conf"), REGISTRY)

    assert "volcano-scheduler.conf):7:14: actions: 'alocate' is not an action of Volcano" in str(caught.value)


def test_another_release_is_likely_at_best(tmp_path: Path) -> None:
    policy = load_policy(_policy(tmp_path, schedulerVersions={"volcano": "1.14"}), REGISTRY)

    decisions = decide(policy, snapshot_of(_world()), now=NOW)

    assert not decisions.moves
    assert {refusal.verdict.code for refusal in decisions.refusals} == {"UnknownLanding"}
    assert "Volcano 1.14" in decisions.refusals[0].verdict.message


@pytest.mark.parametrize(
    ("releases", "problem"),
    [
        pytest.param({"volcano": "new"}, "'new' is not a release of Volcano, for example 1.14", id="no release"),
        pytest.param(
            {"koord-scheduler": "1.8"},
            "'koord-scheduler' is not a scheduler that has releases of its own: volcano",
            id="a scheduler without releases of its own",
        ),
    ],
)
def test_a_wrong_release_is_named(tmp_path: Path, releases: Mapping[str, str], problem: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(_policy(tmp_path, schedulerVersions=releases), REGISTRY)

    assert problem in str(caught.value)
