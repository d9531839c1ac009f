"""`-` is standard input, wherever a command reads a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import click
import pytest
import yaml

from descheduler.cli.commands import commands
from tests.cli.commands import Descheduler, Ended

NOW = "2026-06-30T12:00:00Z"

Piped = Callable[..., Ended]


@pytest.fixture
def piped(descheduler: Descheduler, monkeypatch: pytest.MonkeyPatch) -> Piped:
    """Runs the command line with the content of a file on standard input."""

    def run(file: Path, *arguments: str | Path) -> Ended:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(file.read_bytes())))
        return descheduler(*arguments)

    return run


@pytest.fixture
def plan_file(descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path) -> Path:
    file = tmp_path / "plan.json"
    assert descheduler("plan", policy, "--snapshot", dump, "--now", NOW, "--out", file, "-q").code == 0
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("show", "{plan}"), id="show"),
        pytest.param(("diff", "{plan}", "{other}"), id="diff from"),
        pytest.param(("diff", "{other}", "{plan}"), id="diff to"),
        pytest.param(("explain", "pod", "shop/old", "--plan", "{plan}"), id="explain"),
    ],
)
def test_plan_may_come_from_standard_input(
    descheduler: Descheduler, piped: Piped, plan_file: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(plan_file.read_bytes())

    from_file = descheduler(*(each.format(plan=plan_file, other=other) for each in arguments))
    from_input = piped(plan_file, *(each.format(plan="-", other=other) for each in arguments))

    assert from_input == from_file
    assert from_input.code == 0


def test_plan_to_apply_may_come_from_standard_input(piped: Piped, policy: Path, dump: Path) -> None:
    ended = piped(dump, "apply", "-", "--policy-config-file", policy)

    assert ended.code == 2
    assert "standard input: is not a plan file" in ended.err


def test_pods_to_make_room_for_may_come_from_standard_input(piped: Piped, dump: Path, tmp_path: Path) -> None:
    pods = tmp_path / "pods.yaml"
    resources = {"requests": {"cpu": "1"}}
    spec = {"containers": [{"name": "main", "image": "web", "resources": resources}]}
    pods.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": spec}))

    ended = piped(pods, "plan", "--for", "-", "--snapshot", dump, "--now", NOW)

    assert ended.code == 0, ended.err
    assert "new" in ended.out


def test_rules_to_assume_may_come_from_standard_input(piped: Piped, policy: Path, dump: Path) -> None:
    ended = piped(policy, "run", policy, "--snapshot", dump, "--with", "-")

    assert ended.code == 2
    assert "<stdin>:1: DeschedulerPolicy" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("run", "-", "--snapshot", "-"), id="policy and dump"),
        pytest.param(("validate", "-", "-"), id="two policies"),
        pytest.param(("diff", "-", "-"), id="two plans"),
        pytest.param(("run", "{policy}", "--snapshot", "-", "--with", "-"), id="dump and rules"),
    ],
)
def test_standard_input_is_named_once(piped: Piped, policy: Path, arguments: tuple[str, ...]) -> None:
    ended = piped(policy, *(each.format(policy=policy) for each in arguments))

    assert ended.code == 2
    assert "standard input can be read once" in ended.err


def test_policy_of_a_loop_is_a_file(piped: Piped, policy: Path) -> None:
    """It is read again for each run."""
    ended = piped(policy, "loop", "-", "--dry-run")

    assert ended.code == 2
    assert "name a file" in ended.err


def test_plan_file_is_not_written_to_standard_output(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    """The plan that is shown goes there."""
    ended = descheduler("plan", policy, "--snapshot", dump, "--out", "-")

    assert ended.code == 2
    assert "name a file" in ended.err


@pytest.mark.parametrize("name", ["apply", "convert", "diff", "explain", "plan", "run", "show", "simulate", "validate"])
def test_help_says_so(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None

    shown = " ".join(command.get_help(click.Context(command, info_name=name)).split())

    assert "standard input" in shown
