"""Which modules a command loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = {"kubernetes", "ortools", "numpy", "prometheus_client", "opentelemetry", "grpc", "descheduler.kube.client"}
"""What help, checks and dry runs on dumps go without."""

IMPORTS = """
import sys
from descheduler.cli.main import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


IMPORT = """
import importlib, sys
importlib.import_module(sys.argv[1])
print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_with(module: str) -> set[str]:
    """The modules that `module` comes with."""
    ended = subprocess.run([sys.executable, "-c", IMPORT, module], capture_output=True, text=True, check=True)
    return set(ended.stderr.splitlines()[-1].split())


def modules_of(*arguments: str | Path) -> set[str]:
    """The modules that a command has loaded when it ends well."""
    command = [sys.executable, "-c", IMPORTS, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(ended.stderr.splitlines()[-1].split())
