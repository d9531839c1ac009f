from __future__ import annotations

import sys
from pathlib import Path

from descheduler.cli.inputs import load_policy_file


def test_policy_read_outside_of_a_command_leaves_standard_output_alone(policy: Path) -> None:
    """Only the end of a command gives it back."""
    before = sys.stdout

    load_policy_file(str(policy))

    assert sys.stdout is before
