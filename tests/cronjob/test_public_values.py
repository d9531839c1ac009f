"""Values as public users of kubernetes-sigs/descheduler's chart write them: rendered, or refused by the wrong key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.cronjob.manifests import CHART, REPOSITORY, only
from tests.cronjob.public_values import REFUSED, RENDERED
from tests.cronjob.rendering import Helm, RenderError
from tests.cronjob.workloads import container, flags

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
def test_values_are_rendered_to_a_cronjob_that_the_program_takes(helm: Helm, structure: str) -> None:
    manifests = helm.template(RENDERED[structure])

    cronjob = only(manifests, "CronJob")
    assert flags(cronjob)["policy_file"] == "/policy-dir/policy.yaml"
    assert load_policy(only(manifests, "ConfigMap")["data"]["policy.yaml"], REGISTRY).profiles
    assert list(nulls(cronjob)) == []


@pytest.mark.parametrize("structure", REFUSED)
def test_values_are_refused_by_the_key_that_is_wrong(helm: Helm, structure: str) -> None:
    values, message = REFUSED[structure]

    with pytest.raises(RenderError) as refusal:
        helm.template(values)

    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("interval", "schedule"),
    [
        ("30s", "* * * * *"),
        ("1m", "* * * * *"),
        ("5m", "*/5 * * * *"),
        ("5m0s", "*/5 * * * *"),
        ("300s", "*/5 * * * *"),
        ("7m", "*/10 * * * *"),
        ("45m", "0 * * * *"),
        ("1h", "0 * * * *"),
        ("90m", "0 */2 * * *"),
        ("12h", "0 */12 * * *"),
        ("24h", "0 0 * * *"),
        ("168h", "0 0 * * 0"),
    ],
)
def test_interval_of_a_deployment_becomes_the_schedule(helm: Helm, interval: str, schedule: str) -> None:
    manifests = helm.template(f"kind: Deployment\nschedule: '1 1 1 1 1'\ndeschedulingInterval: {interval}")

    assert only(manifests, "CronJob")["spec"]["schedule"] == schedule


def test_deployment_without_an_interval_has_that_of_upstream(helm: Helm) -> None:
    notes = helm.notes("kind: Deployment\nreplicas: 2")

    assert 'kind: Deployment becomes a CronJob with schedule "*/5 * * * *" (deschedulingInterval: 5m)' in notes
    assert "replicas is ignored" in notes
    assert "deschedulingInterval is ignored" not in notes


def test_interval_that_cron_cannot_express_is_named(helm: Helm) -> None:
    exact, longer = (helm.notes(f"kind: Deployment\ndeschedulingInterval: {each}") for each in ("10m", "7m"))

    assert "A schedule cannot express 7m, so runs start every 10 minutes." in longer
    assert "cannot express" not in exact


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
