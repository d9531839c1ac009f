from __future__ import annotations

import re

import click

from descheduler.cli.commands import commands as program
from descheduler.model.verdict import Reason
from tests.docs.pages import ROOT, blocks, commands, pages, spans

_CODE = re.compile(r"[A-Z][A-Za-z]+")


def test_every_shown_command_exists_with_all_its_flags() -> None:
    shown = [(page, arguments) for page in pages() for arguments in commands(page)]

    unknown = [(page, arguments, problem) for page, arguments in shown if (problem := _problem(arguments)) is not None]

    assert unknown == []


def test_every_flag_in_a_sentence_exists() -> None:
    known = {"--version"} | {flag for name in program.list_commands(_context()) for flag in _flags(name)}
    named = [
        (page, re.split("[= ]", span)[0])
        for page in pages()
        for span in spans(page)
        if span.startswith("-") and span != "-"
    ]

    unknown = [(page, flag) for page, flag in named if flag.replace("_", "-") not in known]

    assert unknown == []


def test_every_shown_file_of_the_repository_exists() -> None:
    words = [(page, word) for page in pages() for block in blocks(page, "sh") for word in block.split()]

    missing = [
        (page, word) for page, word in words if word.startswith(("config/", "tests/")) and not any(ROOT.glob(word))
    ]

    assert missing == []


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = [
        (page, line)
        for page in pages()
        for line in (*(line for block in blocks(page, "sh") for line in block.splitlines()), *spans(page))
    ]
    targets = [(page, line.split()[1]) for page, line in lines if line.startswith("make ")]

    missing = [(page, target) for page, target in targets if f"\n{target}:" not in makefile]

    assert missing == []


def test_advice_is_given_for_every_reason_that_can_be_seen() -> None:
    advised = {span for span in spans(ROOT / "docs" / "how-to" / "troubleshoot.md") if _CODE.fullmatch(span)}

    without_advice = {str(reason.value) for reason in Reason} - {"Unset"} - advised

    assert without_advice == set()


def _problem(arguments: list[str]) -> str | None:
    """What the program would not understand, or None. Flags without a command are those of `run`."""
    if arguments in (["help"], ["help", "COMMAND"], ["--version"]):
        return None
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
