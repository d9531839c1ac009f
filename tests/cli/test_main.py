from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from descheduler.cli.commands import COMMANDS, commands
from descheduler.cli.examples import EXAMPLES
from descheduler.cli.flags.upstream import IDLE_FLAGS
from descheduler.supervision import Watch
from tests.cli.commands import Descheduler
from tests.cli.loaded_modules import HEAVY, modules_of, modules_with

PROGRAM = [sys.executable, "-m", "descheduler"]


@pytest.mark.parametrize(
    "arguments", [("--help",), ("run", "--help"), ("version",), ("schema", "plan"), ("schema", "policy")]
)
def test_help_and_the_like_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = modules_of(*arguments)

    assert modules.isdisjoint(HEAVY | {"yaml", "descheduler.cycle", "descheduler.policy.load"})


@pytest.mark.parametrize("module", ["descheduler", "descheduler.cli.main"])
def test_program_is_started_by_its_modules_as_by_its_name(module: str) -> None:
    ended = subprocess.run([sys.executable, "-m", module, "version"], capture_output=True, text=True, check=True)

    assert ended.stdout


def test_validating_loads_neither_client_nor_arrays(policy: Path) -> None:
    assert modules_of("validate", policy).isdisjoint(
        HEAVY | {"descheduler.cycle.deciding.decide", "descheduler.cycle.run"}
    )


def test_what_a_live_run_loads_before_it_reads_the_cluster_leaves_out_what_decides_and_what_jobs_need() -> None:
    """It is loaded while the API server is at work, or when there are jobs or something to repeat."""
    modules = modules_with("descheduler.cycle.live.live_run")

    later = {"numpy", "tenacity", "descheduler.cycle.deciding.decide", "descheduler.migration.roads.execution"}
    assert modules.isdisjoint(later)


@pytest.mark.long
def test_judging_a_dump_loads_no_client(policy: Path, dump: Path) -> None:
    assert modules_of("run", "--config", policy, "--snapshot", dump).isdisjoint(HEAVY - {"numpy"})


def test_help_names_every_command_and_shell_completion(descheduler: Descheduler) -> None:
    ended = descheduler("--help")

    assert (ended.code, ended.err) == (0, "")
    assert all(f"  {command} " in ended.out for command in COMMANDS)
    assert "descheduler completion" in ended.out


def test_help_lists_every_command_in_one_group() -> None:
    assert sorted(COMMANDS) == sorted(EXAMPLES)
    assert len(set(COMMANDS)) == len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_three_examples_that_it_takes(descheduler: Descheduler, command: str) -> None:
    shown = descheduler("help", command)

    assert shown.out == descheduler(command, "--help").out
    assert len(EXAMPLES[command]) == 3
    for line in EXAMPLES[command]:
        assert f"  {line}\n" in shown.out
        _, _, typed = line.rpartition("descheduler " if "kubectl deschedule " not in line else "deschedule ")
        name, *arguments = shlex.split(re.split(r"[>)]", typed)[0])
        if name != "--version":
            parent = click.Context(commands, **commands.context_settings)
            assert name == command
            found = commands.get_command(parent, name)
            assert found is not None
            found.make_context(name, arguments, parent)


def test_no_arguments_show_the_help(descheduler: Descheduler) -> None:
    assert descheduler().out == descheduler("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(descheduler: Descheduler, command: str) -> None:
    ended = descheduler(command, "-h")

    assert ended.code == 0
    assert ended.out.startswith(f"Usage: descheduler {command} ")


def test_flags_of_upstream_without_effect_stay_out_of_the_help(descheduler: Descheduler) -> None:
    shown = set(descheduler("run", "--help").out.replace(",", " ").split())

    assert shown & {f"--{flag.name}" for flag in IDLE_FLAGS} == set()


def test_help_without_a_command_is_that_of_the_program(descheduler: Descheduler) -> None:
    assert descheduler("help").out == descheduler("--help").out
    assert (
        descheduler("help", "valdate").err
        == "error: no such command 'valdate'; did you mean 'validate'? (see 'descheduler --help')\n"
    )


def test_flag_for_the_version_is_the_command(descheduler: Descheduler) -> None:
    assert descheduler("--version").out == descheduler("version").out


def test_policy_can_be_an_argument(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    rest = ("--snapshot", dump, "--now", "2026-01-15T12:00:00Z", "-o", "csv")

    flagged, plain = descheduler("run", "--config", policy, *rest), descheduler("run", policy, *rest)

    assert (plain.code, plain.out) == (flagged.code, flagged.out)
    assert plain.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "missing option '--policy-config-file', or the policy as an argument"),
        (("a.yaml", "--config", "b.yaml"), "two policies are named: a.yaml and --policy-config-file b.yaml"),
        (("",), "the file name is empty"),
    ],
)
def test_one_policy_has_to_be_named(descheduler: Descheduler, arguments: tuple[str, ...], message: str) -> None:
    ended = descheduler("run", *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_version_is_one_line(descheduler: Descheduler) -> None:
    ended = descheduler("version")

    assert ended.out.startswith("descheduler ")
    assert ended.out.count("\n") == 1


def test_schema_is_printed_as_published(descheduler: Descheduler) -> None:
    assert json.loads(descheduler("schema", "outcome").out)["title"] == "Outcome"
    assert json.loads(descheduler("schema", "policy").out)["$id"] == "urn:descheduler:schema:policy:v1alpha2"


def test_completion_knows_commands_and_flags() -> None:
    words = {"_DESCHEDULER_COMPLETE": "bash_complete", "COMP_WORDS": "descheduler run --pol", "COMP_CWORD": "2"}

    ended = subprocess.run(PROGRAM, env={**os.environ, **words}, capture_output=True, text=True, check=False)

    assert ended.stdout == "plain,--policy-config-file\n"


@pytest.mark.long
def test_a_reader_that_goes_away_is_no_fault(policy: Path, dump: Path) -> None:
    command = [*PROGRAM, "run", "--config", str(policy), "--snapshot", str(dump), "-o", "json"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()

    assert process.returncode == 0
    assert "Broken" not in err
    assert "Traceback" not in err


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_a_failure_in_one_message(policy: Path, dump: Path) -> None:
    command = [*PROGRAM, "run", "--config", str(policy), "--snapshot", str(dump)]

    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "error: cannot write to standard output: no space left on device"


@pytest.mark.long
def test_names_that_the_terminal_cannot_show_are_escaped(policy: Path, dump: Path, tmp_path: Path) -> None:
    named = tmp_path / "größe.json"
    named.write_bytes(dump.read_bytes())
    command = [*PROGRAM, "run", "--config", str(policy), "--snapshot", str(named)]

    ended = subprocess.run(
        [*command, "-o", "yaml"], env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )

    assert ended.returncode == 0


def test_a_defect_is_reported_in_one_line_with_its_place_and_without_its_text(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "-".join(["s3cr3t", "t0ken"])

    def explode(*_arguments: object, **_named: object) -> None:
        raise ZeroDivisionError(f"a defect that quotes {secret}")

    monkeypatch.setattr("descheduler.cycle.deciding.decide.decide", explode)
    arguments = ("run", "--config", policy, "--snapshot", dump)

    usual, chatty = descheduler(*arguments), descheduler(*arguments, "-v", "6")

    last = usual.err.splitlines()[-1]
    assert (usual.code, usual.out) == (1, "")
    assert re.match(
        r"error: internal error: ZeroDivisionError in descheduler\.[a-z_.]+:\d+; please report it, with", last
    )
    assert "Traceback" not in usual.err
    assert "Traceback" in chatty.err
    assert secret not in usual.err + chatty.err


def test_breaking_off_is_neither_a_defect_nor_success(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("descheduler.cycle.deciding.decide.decide", break_off)

    ended = descheduler("run", "--config", policy, "--snapshot", dump)

    assert ended.code == 130
    assert ended.err.splitlines()[-1] == "error: interrupted (Ctrl-C)"


def test_a_defect_after_evictions_never_ends_as_if_nothing_was_evicted(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Job starts a run again that ends with 1."""

    def explode(*arguments: object, **_named: object) -> None:
        watch = next(each for each in arguments if isinstance(each, Watch))
        watch.has_effects = True
        raise ZeroDivisionError

    monkeypatch.setattr("descheduler.cli.running._run_on_dump", explode)

    ended = descheduler("run", "--config", policy, "--snapshot", dump)

    assert ended.code == 4
    assert "pods were evicted before this error" in ended.err


INTERRUPTED_WHILE_LOADING = """
import signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
import descheduler.__main__ as program
sys.exit(getattr(program, sys.argv[2])())
"""


@pytest.mark.parametrize("module", ["click", "descheduler.cli.commands", "descheduler.supervision"])
@pytest.mark.parametrize("entry", ["main", "complete"])
def test_ctrl_c_while_the_program_is_loaded_is_one_line(module: str, entry: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED_WHILE_LOADING, module, entry]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "error: interrupted (Ctrl-C)\n")


def test_program_can_be_run_as_a_module() -> None:
    ended = subprocess.run([*PROGRAM, "version"], capture_output=True, text=True, check=True)

    assert ended.stdout
