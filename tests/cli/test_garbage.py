"""The garbage collector of the program, which leaves that of its importers alone."""

from __future__ import annotations

import gc
import subprocess
import sys

from descheduler.cli.main import main

PROGRAM = (
    "import gc, sys; from descheduler.cli.main import main; sys.argv = ['descheduler', 'version']; main(); "
    "print(gc.get_threshold()[0] > 10_000, gc.get_freeze_count() > 10_000)"
)


def test_the_program_looks_for_cycles_rarely_and_not_at_its_end() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert ended.stdout.splitlines()[-1] == "True True"


def test_a_command_within_another_program_leaves_its_collector_alone() -> None:
    gc.unfreeze()  # objects that are settled may end meanwhile
    before = gc.get_threshold(), gc.get_freeze_count()

    main(["version"])

    assert (gc.get_threshold(), gc.get_freeze_count()) == before
