"""What helm says of the chart: the notes after an installation, and refusals."""

from __future__ import annotations

import pytest
import yaml

from tests.cronjob.chart_values import FOR_A_DEPLOYMENT, KOORDINATOR, UPSTREAM, VERIFYING
from tests.cronjob.rendering import Helm, RenderError

pytestmark = pytest.mark.render


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        pytest.param("", ["10", "no limit", "no limit", "300s", "on"], id="the defaults"),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: 10000000, maxNoOfPodsToEvictPerNode: 2}",
            ["10000000", "2", "no limit", "300s", "on"],
            id="the default policy with other limits",
        ),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: null}\nactiveDeadlineSeconds: null",
            ["no limit", "no limit", "no limit", "no limit", "on"],
            id="no limits",
        ),
        pytest.param(
            "deschedulerPolicy: {maxNoOfPodsToEvictTotal: '{{ .Values.global.most }}'}\nglobal: {most: 5}",
            ["5", "no limit", "no limit", "300s", "on"],
            id="a limit that is a template",
        ),
        pytest.param(
            UPSTREAM,
            ["10", "no limit", "no limit", "300s", "off in profile default, so replacement pods can stay pending"],
            id="upstream's values",
        ),
        pytest.param(VERIFYING, ["10", "no limit", "no limit", "300s", "on"], id="an own policy that verifies"),
        pytest.param(KOORDINATOR, ["10", "no limit", "no limit", "300s", "on"], id="a document of koord-descheduler"),
        pytest.param(
            KOORDINATOR.replace("plugins: {", "plugins: {filter: {disabled: [{name: PlacementVerification}]}, "),
            ["10", "no limit", "no limit", "300s", "off in profile p, so replacement pods can stay pending"],
            id="a document of koord-descheduler that does not verify",
        ),
    ],
)
def test_limits_in_force_are_shown_after_an_installation(helm: Helm, values: str, limits: list[str]) -> None:
    names = (
        "maxNoOfPodsToEvictTotal",
        "maxNoOfPodsToEvictPerNode",
        "maxNoOfPodsToEvictPerNamespace",
        "--deadline",
        "PlacementVerification",
    )

    shown = helm.notes(values).splitlines()

    assert [line.strip() for line in shown if line.startswith("  ") and ": " in line] == [
        f"{name}: {limit}" for name, limit in zip(names, limits, strict=True)
    ]


def test_schedule_is_shown_after_an_installation(helm: Helm) -> None:
    notes = helm.notes("schedule: '@hourly'\ntimeZone: Etc/UTC\nsuspend: true\ncmdOptions: {dry-run: null}")

    when = 'The descheduler runs at "@hourly" (Etc/UTC), once it is no longer suspended'
    assert f"{when}, and only shows what it would evict.\n" in notes
    assert 'runs at "*/15 * * * *".' in helm.notes()


def test_values_for_a_deployment_change_nothing_and_are_named(helm: Helm) -> None:
    assert helm.template(FOR_A_DEPLOYMENT) == helm.template()
    assert "serviceMonitor is ignored: this chart installs a CronJob, which has no endpoint to scrape" in helm.notes(
        FOR_A_DEPLOYMENT
    )
    idle = [line.split()[0] for line in helm.notes(FOR_A_DEPLOYMENT).splitlines() if "is ignored" in line]
    assert sorted(idle) == sorted(yaml.safe_load(FOR_A_DEPLOYMENT))
    assert "is ignored" not in helm.notes()


@pytest.mark.parametrize(
    ("values", "flags_given", "message"),
    [
        pytest.param("kind: DaemonSet", [], "at '/kind': value must be", id="a DaemonSet"),
        pytest.param(
            "kind: DaemonSet",
            ["--skip-schema-validation"],
            "kind: DaemonSet is neither CronJob nor Deployment",
            id="a DaemonSet past the schema",
        ),
        pytest.param("fullnameOverride: Mine", [], "'Mine' does not match pattern", id="a name with a capital"),
        pytest.param(
            "cmdOptions: {deadline: 10m}",
            [],
            "cmdOptions.deadline is 10m, which is not below activeDeadlineSeconds (600)",
            id="a deadline that the Job does not live to see",
        ),
    ],
)
def test_chart_refuses(helm: Helm, values: str, flags_given: list[str], message: str) -> None:
    with pytest.raises(RenderError) as refusal:
        helm.template(values, *flags_given)

    assert message in str(refusal.value)
