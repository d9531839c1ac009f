"""Values as public users of kubernetes-sigs/descheduler's chart write them: rendered, or refused by the wrong key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.model.text.duration import parse_duration
from descheduler.policy.load import load_policy
from tests.cronjob.manifests import CHART, REPOSITORY, named, only
from tests.cronjob.public_values import REFUSED, RENDERED
from tests.cronjob.rbac import granted, holding_grants
from tests.cronjob.rendering import Helm, RenderError
from tests.cronjob.workloads import container, flags, pod_security_problems

pytestmark = pytest.mark.render

CONFIG = REPOSITORY / "config"
PROFILES = sorted(path.stem for path in (CONFIG / "profiles").glob("*.yaml"))


def ignored(notes: str) -> list[str]:
    """The keys that the notes say the chart does not know."""
    lines = [line.partition(": ")[2] for line in notes.splitlines() if line.startswith("Ignored, because")]
    return lines[0].rstrip(".").split(", ") if lines else []


def nulls(value: object, place: str = "") -> Iterator[str]:
    """Where a manifest has a key without a value."""
    if value is None:
        yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from nulls(part, f"{place}.{key}")


@pytest.mark.parametrize("structure", RENDERED)
def test_values_are_rendered_to_a_workload_that_the_program_takes(helm: Helm, structure: str) -> None:
    manifests = helm.template(RENDERED[structure])

    (workload,) = (*named(manifests, "CronJob").values(), *named(manifests, "Deployment").values())
    assert flags(workload)["policy_file"] == "/policy-dir/policy.yaml"
    assert load_policy(only(manifests, "ConfigMap")["data"]["policy.yaml"], REGISTRY).profiles
    assert list(nulls(workload)) == []


@pytest.mark.parametrize("structure", REFUSED)
def test_values_are_refused_by_the_key_that_is_wrong(helm: Helm, structure: str) -> None:
    values, message = REFUSED[structure]

    with pytest.raises(RenderError) as refusal:
        helm.template(values)

    assert message in str(refusal.value)


@pytest.mark.parametrize("interval", ["30s", "5m0s", "7m", "90m", "720h"])
def test_deployment_runs_in_a_loop_at_its_interval(helm: Helm, interval: str) -> None:
    manifests = helm.template(f"kind: Deployment\ndeschedulingInterval: {interval}")

    assert not named(manifests, "CronJob")
    deployment = only(manifests, "Deployment")
    assert container(deployment)["args"][0] == "loop"
    assert flags(deployment)["interval"] == parse_duration(interval)
    assert pod_security_problems(deployment) == []


def test_deployment_without_an_interval_has_that_of_upstream(helm: Helm) -> None:
    values = "kind: Deployment\nreplicas: 2\nleaderElection: {enabled: true}\nschedule: '0 * * * *'"

    deployment, notes = only(helm.template(values), "Deployment"), helm.notes(values)

    assert deployment["spec"]["replicas"] == 2
    assert flags(deployment)["interval"] == timedelta(minutes=5)
    assert "The descheduler runs every 5m in one process, which a Deployment keeps running" in notes
    assert "leaderElection is ignored: of several replicas one runs, as the holder of a Lease." in notes
    assert "schedule is ignored: runs of a Deployment start every deschedulingInterval." in notes
    assert "replicas is ignored" not in notes


def test_deployment_differs_from_the_cronjob_in_what_repeats_the_run_alone(helm: Helm) -> None:
    cronjob, deployment = (helm.template(f"kind: {kind}") for kind in ("CronJob", "Deployment"))

    once, repeated = only(cronjob, "CronJob"), only(deployment, "Deployment")
    first, second = (container(each) for each in (once, repeated))
    assert [each for each in second["args"] if each not in first["args"]] == ["loop", "--interval=5m"]
    assert second.keys() - first.keys() == {"ports", "livenessProbe"}
    own = granted(cronjob, "Role")
    assert granted(deployment, "Role") == own | holding_grants("descheduler-loop")
    assert granted(deployment, "ClusterRole") == granted(cronjob, "ClusterRole")


def test_deployment_that_is_suspended_has_no_pod(helm: Helm) -> None:
    assert only(helm.template("kind: Deployment\nsuspend: true"), "Deployment")["spec"]["replicas"] == 0


def test_pod_monitor_scrapes_the_port_of_a_deployment(helm: Helm) -> None:
    values = "podMonitor: {create: true, labels: {release: prometheus}}\nnetworkPolicy: {create: true}\nkind: "

    manifests = helm.template(f"{values}Deployment")

    monitor, deployment = only(manifests, "PodMonitor"), only(manifests, "Deployment")
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["path"]) == (container(deployment)["ports"][0]["name"], "/metrics")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert only(manifests, "NetworkPolicy")["spec"]["ingress"][0]["ports"][0]["port"] == endpoint["port"]
    assert not named(helm.template(f"{values}CronJob"), "PodMonitor")
    assert "podMonitor is ignored: this chart installs a CronJob, which has no endpoint" in helm.notes(
        f"{values}CronJob"
    )


@pytest.mark.parametrize(
    ("structure", "keys"),
    [
        ("a registry beside the image", ["image.pullSecrets", "image.registry"]),
        ("the old PodSecurityPolicy", ["podSecurityPolicy"]),
        ("keys of other charts", ["env", "hostNetwork", "revisionHistoryLimit"]),
        ("the values of an umbrella chart", []),
        ("mappings that are null", []),
    ],
)
def test_keys_that_the_chart_does_not_know_are_named(helm: Helm, structure: str, keys: list[str]) -> None:
    assert ignored(helm.notes(RENDERED[structure])) == keys


@pytest.mark.parametrize(
    "structure", ["the image of its registry", "the image of the old registry", "the image of a mirror"]
)
def test_image_of_upstream_is_not_used_and_named(helm: Helm, structure: str) -> None:
    image = yaml.safe_load(RENDERED[structure])["image"]["repository"]

    assert container(only(helm.template(RENDERED[structure]), "CronJob"))["image"] == "descheduler:v0.1.0"
    assert f"image.repository: {image} is ignored" in helm.notes(RENDERED[structure])


def test_image_of_the_users_own_is_used(helm: Helm) -> None:
    values = "image: {repository: registry.example/descheduler, tag: v9}"

    assert container(only(helm.template(values), "CronJob"))["image"] == "registry.example/descheduler:v9"
    assert "No image is published" not in helm.notes(values)


def test_known_keys_are_those_of_the_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    text = (CHART / "templates" / "_keys.tpl").read_text()
    known = json.loads(text[text.index("\n{\n") : text.index("\n}\n") + 2])

    assert set(known.pop("")) == set(schema)
    assert {name: set(keys) for name, keys in known.items()} == {
        name: set(value["properties"]) for name, value in schema.items() if name in known
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_profile_is_the_policy_with_the_scheduler_that_it_names(helm: Helm, tmp_path: Path, profile: str) -> None:
    original = CONFIG / "profiles" / f"{profile}.yaml"
    named = re.findall(r"schedulerConfigFile: ../schedulers/(\S+)", original.read_text())

    data = only(helm.template(f"profile: {profile}"), "ConfigMap")["data"]

    for name, text in data.items():
        (tmp_path / name).write_text(text)
    mounted, kept = (load_policy(path, REGISTRY) for path in (tmp_path / "policy.yaml", original))
    assert {name: text for name, text in data.items() if name != "policy.yaml"} == {
        name: (CONFIG / "schedulers" / name).read_text() for name in named
    }
    assert (mounted.kind, mounted.max_evictions_total) == (kept.kind, kept.max_evictions_total)
    assert [profile.name for profile in mounted.profiles] == [profile.name for profile in kept.profiles]
