"""Schedulers that no configuration describes: koord-scheduler by its manifest, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
    load_scheduler_configuration,
)
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.doubts import Doubts
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.configured import load_configuration, with_profiles_for
from descheduler.placement.schedulers.koord_scheduler import MANIFEST
from tests.builders import make_pod, make_snapshot
from tests.placement.plugins.load_aware_scheduling.worlds import AGENT

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: koord-scheduler-config, namespace: koordinator-system}
data:
  koord-scheduler-config: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - schedulerName: koord-scheduler
      plugins:
        reserve: {enabled: [{name: Reservation}]}
"""


def configured(*names: str) -> SchedulerConfiguration:
    return with_profiles_for(names, default_configuration(KubeVersion(), PLUGINS), PLUGINS)


def profile(configuration: SchedulerConfiguration, name: str = "koord-scheduler") -> SchedulerProfile:
    found = configuration.profile_for(name)
    assert found is not None
    return found


def test_koord_scheduler_runs_what_its_manifest_lists() -> None:
    koord = profile(configured("koord-scheduler"))

    assert koord.filters[-4:] == ("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Reservation")
    assert ("Reservation", 5000) in koord.scores
    assert koord.post_filters == ("Reservation", "Coscheduling", "ElasticQuota", "DefaultPreemption")


def test_reservation_is_missing_under_reserve_of_the_manifest() -> None:
    koord = profile(configured("koord-scheduler"))

    assert "Reservation" in koord.pre_filters
    assert "Reservation" not in koord.reserves


@pytest.mark.parametrize(
    ("args", "doubt"),
    [
        pytest.param(None, "NodeMetrics of Koordinator were not read", id="by default"),
        pytest.param({"usageThresholds": {"cpu": 70}}, "NodeMetrics of Koordinator", id="of the whole node"),
        pytest.param({"usageThresholds": {"cpu": 0}, "prodUsageThresholds": {"cpu": 50}}, "Node", id="of prod pods"),
        pytest.param({"usageThresholds": {"cpu": 0, "memory": 0}}, "", id="none, as in the manifest"),
    ],
)
def test_limits_of_unread_usage_leave_every_landing_in_doubt(args: dict[str, object] | None, doubt: str) -> None:
    config = [] if args is None else [{"name": "LoadAwareScheduling", "args": args}]
    plugins = {"filter": {"enabled": [{"name": "LoadAwareScheduling"}]}}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "koord-scheduler", "plugins": plugins, "pluginConfig": config}],
    }
    own = load_scheduler_configuration(document, version=KubeVersion(), plugins=PLUGINS)

    found = Doubts(profile(own), own, PLUGINS, make_snapshot([], [AGENT], kinds=frozenset({"Node"}))).about(
        make_pod("web")
    )

    assert found.startswith(doubt)
    assert bool(found) is bool(doubt)


def test_the_manifest_is_read_without_a_warning() -> None:
    unread = {"Coscheduling", "DeviceShare", "ElasticQuota", "Reservation"}
    warnings = load_scheduler_configuration(MANIFEST, version=KubeVersion(), plugins=PLUGINS).warnings

    assert [each.message for each in warnings if not any(name in each.message for name in unread)] == []


def test_another_scheduler_is_taken_to_run_the_first_profile() -> None:
    configuration = configured("homemade")

    assert profile(configuration, "homemade").filters == configuration.profiles[0].filters


@pytest.mark.parametrize("name", ["koord-scheduler", "homemade"])
def test_a_profile_of_the_file_counts_before_what_is_known_of_a_name(name: str) -> None:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": name, "plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}}],
    }
    own = load_scheduler_configuration(document, version=KubeVersion(), plugins=PLUGINS)

    assert with_profiles_for((name,), own, PLUGINS) == own


def test_the_config_map_of_a_cluster_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "config-map.yaml"
    file.write_text(CONFIG_MAP)

    own = load_scheduler_configuration(file, version=KubeVersion(), plugins=PLUGINS)

    assert profile(own).reserves[-1] == "Reservation"


def test_koord_scheduler_is_made_of_a_kube_scheduler_of_its_own() -> None:
    newer = load_configuration(MANIFEST, KubeVersion.parse("1.36"), PLUGINS)

    assert profile(newer).made_of == KubeVersion.parse("1.35")
    assert profile(default_configuration(KubeVersion(), PLUGINS), "default-scheduler").made_of is None
