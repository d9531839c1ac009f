"""Which flags of upstream without effect deserve a warning."""

from __future__ import annotations

import click
import pytest

from descheduler.cli.flags.upstream import IDLE_FLAGS, IdleFlag, takes_idle_flags, warn_of_idle_flags


def warned(caplog: pytest.LogCaptureFixture, *arguments: str) -> int:
    """How many warnings there are of these flags."""

    @click.command()
    @takes_idle_flags
    @click.pass_context
    def command(ctx: click.Context) -> None:
        warn_of_idle_flags(ctx)

    with caplog.at_level("WARNING"):
        command.main(list(arguments), standalone_mode=False)
    return len(caplog.records)


def test_no_flag_deserves_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert warned(caplog) == 0


@pytest.mark.parametrize("flag", IDLE_FLAGS, ids=lambda flag: flag.name)
def test_value_that_asks_for_something_is_warned_of_once(caplog: pytest.LogCaptureFixture, flag: IdleFlag) -> None:
    assert warned(caplog, f"--{flag.name}", *(() if flag.is_boolean else ("7",))) == 1


@pytest.mark.parametrize(
    ("flag", "value"), [(flag, value) for flag in IDLE_FLAGS for value in ("", *flag.natural) if not flag.is_boolean]
)
def test_value_that_asks_for_what_is_done_anyway_is_not(
    caplog: pytest.LogCaptureFixture, flag: IdleFlag, value: str
) -> None:
    assert warned(caplog, f"--{flag.name}", value) == 0
