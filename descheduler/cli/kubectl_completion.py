"""The program `kubectl_complete-deschedule`, which kubectl asks how `kubectl deschedule …` goes on.

kubectl hands over the words after `deschedule`, the last of which is to be completed, and reads a line for each choice
and a last one with a directive of its completion library (k8s.io/kubectl 0.36 `pkg/cmd/plugin/plugin_completion.go`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from click.shell_completion import ShellComplete

from descheduler.cli.commands import commands

_FILES, _NO_FILES = ":0", ":4"
"""The directives `ShellCompDirectiveDefault` and `ShellCompDirectiveNoFileComp`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the choices for the last of `arguments`, by default those of the process; returns the exit code."""
    *words, incomplete = (sys.argv[1:] if arguments is None else arguments) or [""]
    shell = ShellComplete(commands, {}, "kubectl deschedule", "")
    items = shell.get_completions(list(words), incomplete)
    for item in items:
        if item.type == "plain":
            print(f"{item.value}\t{item.help}" if item.help else item.value)
    print(_FILES if any(item.type == "file" for item in items) else _NO_FILES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
