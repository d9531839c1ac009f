from __future__ import annotations

from collections.abc import Mapping

import click
import pytest

from descheduler.cli.flag_groups import GoFlagsCommand


@click.command(cls=GoFlagsCommand)
@click.option("--dry-run/--no-dry-run", default=False)
@click.option("--quiet", is_flag=True)
@click.option("-v", "--v", "level", type=int, default=0)
@click.option("--config-file")
@click.argument("rest", nargs=-1)
def sample(**flags: object) -> Mapping[str, object]:
    return flags


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["--config_file=a_b"], {"config_file": "a_b"}, id="underscores in names, not in values"),
        pytest.param(["--config_file", "a_b"], {"config_file": "a_b"}, id="underscores with the value apart"),
        pytest.param(["--dry-run=true"], {"dry_run": True}, id="a boolean with its value"),
        pytest.param(["--dry_run=T"], {"dry_run": True}, id="a short boolean"),
        pytest.param(["--dry-run", "--dry-run=false"], {"dry_run": False}, id="the last boolean counts"),
        pytest.param(["--quiet=0"], {"quiet": False}, id="a boolean that has no opposite"),
        pytest.param(["-v=4"], {"level": 4}, id="a short flag with an equals sign"),
        pytest.param(["-v4"], {"level": 4}, id="a short flag with its value attached"),
        pytest.param(["--v=4"], {"level": 4}, id="a single letter with two dashes"),
        pytest.param(["-", "a=b"], {"rest": ("-", "a=b")}, id="no flag at all"),
        pytest.param(["--", "--a_b=c"], {"rest": ("--a_b=c",)}, id="nothing is a flag after two dashes"),
    ],
)
def test_flags_are_taken_as_go_programs_take_them(arguments: list[str], expected: Mapping[str, object]) -> None:
    flags = sample.main(arguments, standalone_mode=False)

    assert flags | expected == flags
