from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from descheduler.cli.commands import commands as program
from descheduler.model.verdict import Reason
from tests.docs.pages import ROOT, blocks, commands, pages, spans

_CODE = re.compile(r"[A-Z][A-Za-z]+")
_EVERY_PAGE = pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()])


@_EVERY_PAGE
def test_every_shown_command_exists_with_all_its_flags(page: Path) -> None:
    unknown = [(arguments, problem) for arguments in commands(page) if (problem := _problem(arguments)) is not None]

    assert unknown == []


@_EVERY_PAGE
def test_every_flag_in_a_sentence_exists(page: Path) -> None:
    known = {flag for name in program.list_commands(_context()) for flag in _flags(name)}
    named = [re.split("[= ]", span)[0] for span in spans(page) if span.startswith("-") and span != "-"]

    unknown = [flag for flag in named if flag.replace("_", "-") not in known]

    assert unknown == []


@_EVERY_PAGE
def test_every_shown_file_of_the_repository_exists(page: Path) -> None:
    words = [word for block in blocks(page, "sh") for word in block.split() if word.startswith(("config/", "tests/"))]

    missing = [word for word in words if not any(ROOT.glob(word))]

    assert missing == []


@_EVERY_PAGE
def test_every_make_target_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    targets = [line.split()[1] for line in [*lines, *spans(page)] if line.startswith("make ")]

    missing = [target for target in targets if f"\n{target}:" not in makefile]

    assert missing == []


def test_advice_is_given_for_every_reason_that_can_be_seen() -> None:
    advised = {span for span in spans(ROOT / "docs" / "how-to" / "troubleshoot.md") if _CODE.fullmatch(span)}

    without_advice = {str(reason.value) for reason in Reason} - {"Unset"} - advised

    assert without_advice == set()


def _problem(arguments: list[str]) -> str | None:
    """What the program would not understand, or None. Flags without a command are those of `run`."""
    name = arguments[0] if arguments and not arguments[0].startswith("-") else "run"
    if name not in program.list_commands(_context()):
        return f"no command {name}"
    flags = _flags(name)
    used = (argument.partition("=")[0] for argument in arguments if re.match("--?[a-z]", argument))
    return next((f"no flag {flag}" for flag in used if flag not in flags), None)


def _flags(name: str) -> set[str]:
    command = program.get_command(_context(), name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    return {"-h", "--help", *(flag for option in options for flag in (*option.opts, *option.secondary_opts))}


def _context() -> click.Context:
    return click.Context(program)
