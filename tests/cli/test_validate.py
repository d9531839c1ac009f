from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.commands import Descheduler
from tests.policy.builders import upstream

CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = sorted([CONFIG / "policy.yaml", *(CONFIG / "profiles").glob("*.yaml")])

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


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_policies_are_valid_and_say_when_to_use_them(descheduler: Descheduler, file: Path) -> None:
    ended = descheduler("validate", file)

    assert (ended.code, ended.err) == (0, "")
    assert "# Use it " in file.read_text()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_policies_find_something_in_the_sample(descheduler: Descheduler, file: Path) -> None:
    ended = descheduler("run", "--config", file, "--snapshot", CONFIG / "samples" / "openb.jsonl.gz", "-o", "json")

    plan = json.loads(ended.out)
    assert ended.code == 0
    assert plan["moves"]
    assert plan["failures"] == []
