from __future__ import annotations

import json
import re
from io import BytesIO, TextIOWrapper
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from tests.cli.commands import Descheduler
from tests.docs.pages import ROOT
from tests.policy.builders import koordinator, upstream

SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {"required": ["driver"], "properties": {"driver": {"required": ["name", "rules"]}}},
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The parts of SARIF 2.1.0 that code scanning reads."""
BAD = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: main
  pluginConfig:
  - name: PodLifeTime
    args: {maxPodLifeTimeSecond: 60}
"""


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.yaml"
    file.write_text(BAD)
    return file


def test_a_good_policy_is_said_to_be_valid(descheduler: Descheduler, policy: Path) -> None:
    ended = descheduler("validate", policy)

    assert (ended.code, ended.out, ended.err) == (0, f"{policy}: valid DeschedulerPolicy\n", "")


def test_a_problem_is_named_with_its_place(descheduler: Descheduler, bad: Path) -> None:
    ended = descheduler("validate", bad)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"{bad}:7:12: profiles[0].pluginConfig[0].args.maxPodLifeTimeSecond: ")


def test_one_bad_file_among_good_ones_decides(descheduler: Descheduler, policy: Path, bad: Path) -> None:
    ended = descheduler("validate", policy, bad)

    assert ended.code == 2
    assert ended.out == f"{policy}: valid DeschedulerPolicy\n"


def test_warnings_are_no_reason_to_fail(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nmetricsProviders: [{source: Unknown}]\n"
    )

    ended = descheduler("validate", file)

    assert ended.code == 0
    assert ended.err.startswith(f"warning: {file}:3:")


DOUBTFUL = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: main
  pluginConfig:
  - name: PodLifeTime
    args: {maxPodLifeTimeSeconds: 60}
  - name: PodLifeTime
    args: {maxPodLifeTimeSeconds: 90}
  plugins:
    deschedule: {enabled: [PodLifeTime, PodLifeTime]}
"""


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """A policy with two warnings."""
    file = tmp_path / "doubtful.yaml"
    file.write_text(DOUBTFUL)
    return file


def test_warnings_are_a_reason_to_fail_when_it_is_strict(
    descheduler: Descheduler, policy: Path, doubtful: Path
) -> None:
    usual, strict = (descheduler("validate", *flags, doubtful, policy) for flags in ((), ("--strict",)))

    assert (usual.code, usual.out) == (0, f"{doubtful}: valid DeschedulerPolicy\n{policy}: valid DeschedulerPolicy\n")
    assert (strict.code, strict.out) == (2, f"{policy}: valid DeschedulerPolicy\n")
    assert strict.err == usual.err


def test_json_says_invalid_of_a_doubtful_policy_when_it_is_strict(descheduler: Descheduler, doubtful: Path) -> None:
    (verdict,) = json.loads(descheduler("validate", "--strict", "-o", "json", doubtful).out)

    assert (verdict["valid"], verdict["problems"], len(verdict["warnings"])) == (False, [], 2)


def test_a_plugin_that_is_configured_or_enabled_twice_is_named(descheduler: Descheduler, doubtful: Path) -> None:
    ended = descheduler("validate", doubtful)

    assert ended.err.splitlines() == [
        f"warning: {doubtful}:8:5: profiles[0].pluginConfig[1]: PodLifeTime is configured twice; the first entry "
        "counts",
        f"warning: {doubtful}:11:41: profiles[0].plugins.deschedule.enabled[1]: PodLifeTime is enabled twice in this "
        "set and runs twice; remove one of them",
    ]


def test_warnings_are_said_beside_problems(descheduler: Descheduler, doubtful: Path) -> None:
    doubtful.write_text(DOUBTFUL.replace("Seconds: 90", "Second: 90"))

    ended = descheduler("validate", doubtful)

    assert ended.code == 2
    assert "unknown field; did you mean 'maxPodLifeTimeSeconds'?" in ended.err
    assert "PodLifeTime is configured twice" in ended.err


def test_a_policy_of_v1alpha1_points_to_the_conversion(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies: {RemoveDuplicates: {}}\n")

    ended = descheduler("validate", file)

    (page,) = re.findall(r"docs/\S+\.md", ended.err)
    assert ended.err.startswith(f"{file}:1:13: apiVersion: 'descheduler/v1alpha1' is not supported")
    assert ended.err.count("\n") == 1
    assert "strategies" in (ROOT / page).read_text()


def test_strategies_in_a_policy_of_today_point_to_the_conversion(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(upstream("strategies: {RemoveDuplicates: {enabled: true}}\n"))

    ended = descheduler("validate", file)

    assert ended.err.startswith(
        f"warning: {file}:3:1: strategies: is a field of descheduler/v1alpha1, ignored; convert the strategies to "
        "profiles, see docs/how-to/from-upstream.md\n"
    )


def test_json_tells_the_place_in_parts(descheduler: Descheduler, policy: Path, bad: Path) -> None:
    ended = descheduler("validate", "-o", "json", policy, bad)

    good_verdict, bad_verdict = json.loads(ended.out)
    assert ended.code == 2
    assert good_verdict == {
        "file": str(policy),
        "valid": True,
        "kind": "DeschedulerPolicy",
        "problems": [],
        "warnings": [],
    }
    assert not bad_verdict["valid"]
    assert bad_verdict["problems"][0]["line"] == 7


def test_the_effective_policy_has_its_defaults_and_is_valid_again(
    descheduler: Descheduler, policy: Path, tmp_path: Path
) -> None:
    printed = descheduler("validate", "--print-effective", policy)

    effective = tmp_path / "effective.yaml"
    effective.write_text(printed.out)
    plugins = yaml.safe_load(printed.out)["profiles"][0]["plugins"]
    assert plugins["filter"] == {"enabled": ["DefaultEvictor"]}
    assert descheduler("validate", effective).code == 0


def test_no_password_of_prometheus_is_printed(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(upstream("metricsProviders: [{source: Prometheus, prometheus: {url: 'http://ops:s3cr3t@prom'}}]\n"))

    printed = descheduler("validate", "--print-effective", file)

    assert 'url: "http://***@prom"' in printed.out
    assert "s3cr3t" not in printed.out + printed.err


def test_what_every_run_warns_of_is_a_warning_here_too(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    dry = "{name: dry, pluginConfig: [{name: MigrationController, args: {dryRun: true}}]}"
    file.write_text(koordinator(f"profiles: [{dry}, {{name: live}}]\n"))

    ended = descheduler("validate", "--strict", file)

    assert ended.code == 2
    assert "profile dry evicts nothing (dryRun: true of MigrationController)" in ended.err


@pytest.mark.parametrize(
    ("profiles", "field"),
    [
        pytest.param("", "profiles", id="without profiles"),
        pytest.param(
            "profiles:\n  - name: a\n    pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 9}}]\n",
            "profiles[0].plugins",
            id="a plugin that is configured and not enabled",
        ),
    ],
)
def test_policy_that_enables_no_plugin_is_a_warning(
    descheduler: Descheduler, tmp_path: Path, profiles: str, field: str
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n{profiles}")

    ended = descheduler("validate", str(file))

    message = "no plugin is enabled under deschedule or balance, so no pod is selected"
    assert (ended.code, ended.err.splitlines()[-1]) == (0, f"warning: {file}: {field}: {message}")


def test_that_an_empty_policy_runs_nothing_is_said_once(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("")

    ended = descheduler("validate", file)

    assert (ended.code, ended.err) == (0, f"warning: {file}: is empty, so nothing runs\n")


def test_limit_that_limits_nothing_is_a_warning(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    limiter = "{objectLimiters: {namespace: {duration: 5m, maxMigrating: 20%}}}"
    config = f"{{name: MigrationController, args: {limiter}}}"
    file.write_text(koordinator(f"profiles: [{{name: p, pluginConfig: [{config}]}}]\n"))

    ended = descheduler("validate", file)

    assert ended.code == 0
    assert "profile p: objectLimiters.namespace.maxMigrating (20%) limits nothing: only a number" in ended.err


@pytest.mark.parametrize("text", ["{}", "replicas: 1\nimage: {tag: a}\n", "kind_: x\n"])
def test_mapping_without_a_key_of_a_policy_is_not_called_one(
    descheduler: Descheduler, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(text)

    ended = descheduler("validate", file)

    message = "is not a policy: it has no key of one, such as apiVersion or profiles"
    assert (ended.code, ended.out, ended.err) == (2, "", f"{file}:1:1: {message}\n")


@pytest.mark.parametrize(
    ("text", "code", "out"),
    [
        pytest.param(upstream(), 0, "<stdin>: valid DeschedulerPolicy\n", id="a policy"),
        pytest.param(
            'actions: "allocate"\ntiers: [{plugins: [{name: gang}]}]\n',
            0,
            "<stdin>: valid volcano-scheduler.conf\n",
            id="a configuration of Volcano",
        ),
        pytest.param(BAD, 2, "", id="a broken policy"),
    ],
)
def test_standard_input_is_checked(
    descheduler: Descheduler, monkeypatch: pytest.MonkeyPatch, text: str, code: int, out: str
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))

    ended = descheduler("validate", "-")

    assert (ended.code, ended.out) == (code, out)


def test_findings_in_sarif_have_rule_level_and_place(
    descheduler: Descheduler, bad: Path, doubtful: Path, policy: Path
) -> None:
    ended = descheduler("validate", "-o", "sarif", bad, doubtful, policy)

    log = json.loads(ended.out)
    jsonschema.Draft7Validator(SARIF).validate(log)
    results = log["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert ended.code == 2
    assert {(result["ruleId"], result["level"]) for result in results} == {("problem", "error"), ("warning", "warning")}
    assert {result["ruleId"] for result in results} <= {
        rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]
    }
    assert places[0] == {"artifactLocation": {"uri": str(bad)}, "region": {"startLine": 7, "startColumn": 12}}


@pytest.mark.parametrize(("flags", "failures"), [((), 1), (("--strict",), 2)])
def test_findings_in_junit_are_failures_of_their_file(
    descheduler: Descheduler, bad: Path, doubtful: Path, policy: Path, flags: tuple[str, ...], failures: int
) -> None:
    ended = descheduler("validate", *flags, "-o", "junit", bad, doubtful, policy)

    (suite,) = ElementTree.fromstring(ended.out)  # noqa: S314 - it is our own
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert (suite.get("tests"), suite.get("failures")) == ("3", str(failures))
    assert failed == [str(bad), str(doubtful)][:failures]
    assert f"{bad}:7:12: " in (suite[0][0].text or "")


def test_hook_and_action_give_flags_that_there_are(descheduler: Descheduler, policy: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    script = action["runs"]["steps"][-1]["run"]
    inputs = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(action)))

    assert descheduler(*hook["entry"].split()[1:], policy).code == 0
    assert descheduler("validate", *re.findall(r"--[a-z]{2,}", script), "-o", "sarif", "--", policy).code == 0
    assert inputs == set(action["inputs"])
    assert "${{" not in script
