"""Pages that show commands with their output: the commands are run, and the output in the page is what they print.

Below a block of commands stand, each on a line of its own,

- `<!-- exit code: 2 -->` for commands that do not end with 0,
- `<!-- needs a control plane -->` for commands that only the tests on a real control plane run,
- `<!-- shown: mailer | ^3\\d pods -->` above a `text` block: each regular expression stands for the first line of the
  output, below the line before, that it is found in; `…` marks lines that are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"^```sh\n(?P<commands>.*?)^```$"
    r"|^<!-- exit code: (?P<code>\d+) -->$"
    r"|^<!-- (?P<plane>needs a control plane) -->$"
    r"|^<!-- shown: (?P<patterns>.*?) -->\n```text\n(?P<output>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_WIDTH = 120
_LEFT_OUT = "…"


class SessionError(ValueError):
    """A page whose commands do not do what the page says."""


@dataclass(frozen=True)
class Ended:
    """How a block of commands ended, and what it printed: data, then messages without the lines of the log."""

    code: int
    output: str


@dataclass
class Step:
    """A block of commands, what the page says of its end, and the outputs that it shows: their places and patterns."""

    commands: str
    code: int = 0
    outputs: list[tuple[int, int, str]] = field(default_factory=list)
    needs_control_plane: bool = False


def steps(page: str) -> Iterator[Step]:
    """The blocks of commands of a page, in order."""
    step: Step | None = None
    for token in _TOKEN.finditer(page):
        if token["commands"] is not None:
            if step is not None:
                yield step
            step = Step(token["commands"])
        elif step is None:
            raise SessionError(f"stands above all commands: {token[0].splitlines()[0]}")
        elif token["code"] is not None:
            step.code = int(token["code"])
        elif token["plane"] is not None:
            step.needs_control_plane = True
        else:
            step.outputs.append((token.start("output"), token.end("output"), token["patterns"]))
    if step is not None:
        yield step


def refreshed(page: str, run: Callable[[str], Ended], *, runs_all: bool) -> str:
    """`page` with the output that `run` gives for its blocks; without `runs_all` only those whose output is shown.

    Commands that need a control plane are not run. Raises SessionError for another exit code than the page says, and
    for a pattern that is not found.
    """
    pieces, at = [], 0
    for step in steps(page):
        if step.needs_control_plane or not (runs_all or step.outputs):
            continue
        ended = run(step.commands)
        if ended.code != step.code:
            raise SessionError(f"ended with {ended.code}, not {step.code}: {step.commands}{ended.output}")
        for start, end, patterns in step.outputs:
            pieces += [page[at:start], _excerpt(ended.output, patterns)]
            at = end
    return "".join([*pieces, page[at:]])


def _excerpt(output: str, patterns: str) -> str:
    lines, at = output.splitlines(), 0
    shown: list[str] = []
    for pattern in patterns.split(" | "):
        found = next((number for number in range(at, len(lines)) if re.search(pattern, lines[number])), None)
        if found is None:
            raise SessionError(f"no line below line {at} matches {pattern!r} in\n{output}")
        if found > at:
            shown.append(_LEFT_OUT)
        shown.append(_cut(lines[found]))
        at = found + 1
    if any(lines[at:]):
        shown.append(_LEFT_OUT)
    return "".join(f"{line}\n" for line in shown)


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}{_LEFT_OUT}"
