"""The manifests as they stand in the tree, before any tool has rendered them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.version import VERSION
from tests.cronjob.manifests import BASE, CHART, CRONJOB, OVERLAYS, REPOSITORY, base_documents, documents, only
from tests.cronjob.workloads import container, deadline_problems, flags, pod_security_problems

PLAIN_YAML = [path for path in sorted(CRONJOB.rglob("*.yaml")) if CHART / "templates" not in path.parents]
POLICIES = sorted(CRONJOB.rglob("policy.yaml"))
KUSTOMIZATIONS = sorted(CRONJOB.rglob("kustomization.yaml"))
WORKLOADS = [
    pytest.param(BASE / "cronjob.yaml", id="the CronJob of the base"),
    pytest.param(OVERLAYS / "job" / "job.yaml", id="the Job of the overlay"),
]


def place(path: Path) -> str:
    """Names a file in a test's id."""
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("path", PLAIN_YAML, ids=place)
def test_file_parses_without_a_key_given_twice(path: Path) -> None:
    assert documents(path.read_text())


@pytest.mark.parametrize("path", POLICIES, ids=place)
def test_policy_loads_without_a_warning(path: Path) -> None:
    policy = load_policy(path, REGISTRY)

    assert policy.warnings == ()


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=place)
def test_files_that_a_kustomization_names_are_there(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    files = [file for generator in document.get("configMapGenerator", ()) for file in generator["files"]]

    missing = [name for name in (*document["resources"], *files) if not (path.parent / name).exists()]

    assert missing == []


def test_base_runs_the_policy_that_config_offers_with_lower_limits_and_verification() -> None:
    """kustomize takes no file from outside its folder, so the base holds a copy."""
    offered = yaml.safe_load((REPOSITORY / "config" / "policy.yaml").read_text())
    (profile,) = offered["profiles"]
    del offered["maxNoOfPodsToEvictPerNode"], offered["maxNoOfPodsToEvictPerNamespace"]
    offered["maxNoOfPodsToEvictTotal"] = 10
    profile["pluginConfig"].insert(1, {"name": "PlacementVerification"})
    profile["plugins"]["preevictionfilter"] = {"enabled": ["PlacementVerification"]}

    assert yaml.safe_load((BASE / "policy.yaml").read_text()) == offered


@pytest.mark.parametrize("path", WORKLOADS)
def test_pod_meets_the_restricted_profile(path: Path) -> None:
    (workload,) = documents(path.read_text())

    assert pod_security_problems(workload) == []


@pytest.mark.parametrize("path", WORKLOADS)
def test_run_ends_before_its_job_is_ended(path: Path) -> None:
    (workload,) = documents(path.read_text())

    assert deadline_problems(workload) == []


@pytest.mark.parametrize("path", WORKLOADS)
def test_arguments_are_those_of_a_live_run(path: Path) -> None:
    (workload,) = documents(path.read_text())

    found = flags(workload)

    assert found["policy_file"] == "/policy-dir/policy.yaml"
    assert found["deadline"] == timedelta(minutes=5)
    assert found["lease_name"] == "descheduler"
    assert found["dry_run"] is False


@pytest.mark.parametrize("path", WORKLOADS)
def test_image_has_the_version_of_the_program(path: Path) -> None:
    (workload,) = documents(path.read_text())

    assert container(workload)["image"] == f"descheduler:v{VERSION}"


def test_run_ends_before_the_next_is_due() -> None:
    spec = only(base_documents(), "CronJob")["spec"]
    minutes = int(spec["schedule"].removeprefix("*/").split()[0])

    latest_end = spec["startingDeadlineSeconds"] + spec["jobTemplate"]["spec"]["activeDeadlineSeconds"]

    assert latest_end < 60 * minutes


def test_runs_never_overlap_and_are_never_repeated() -> None:
    spec = only(base_documents(), "CronJob")["spec"]

    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["startingDeadlineSeconds"] >= 10, "the CronJob controller looks every ten seconds"
    assert spec["jobTemplate"]["spec"]["backoffLimit"] == 0
    assert spec["jobTemplate"]["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_token_is_mounted_into_the_pod_and_not_by_the_account() -> None:
    manifests = list(base_documents())

    assert only(manifests, "ServiceAccount")["automountServiceAccountToken"] is False
    assert only(manifests, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["automountServiceAccountToken"]


def test_job_is_the_cronjobs_with_a_time_to_go_away() -> None:
    template = only(base_documents(), "CronJob")["spec"]["jobTemplate"]["spec"]
    (job,) = documents((OVERLAYS / "job" / "job.yaml").read_text())

    assert job["spec"] == template | {"ttlSecondsAfterFinished": 3600}


def test_chart_has_the_version_of_the_program() -> None:
    (chart,) = documents((CHART / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
