"""Faults of a policy document, and how they are worded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from descheduler.model.text.printable import clipped
from descheduler.model.text.urls import shown_url

_LONGEST_SHOWN = 80


class DocumentProblem(msgspec.Struct, frozen=True):
    """One fault at one place. `str()` gives `policy.yaml:12:9: profiles[0].name: message`."""

    path: str
    """The file, or `<policy>`."""
    line: int | None
    """1-based, like `column`; None for a document that came as an object or that could not be read."""
    column: int | None
    field: str
    """Dotted, such as `profiles[0].pluginConfig[1].args.thresholds.cpu`; empty for the document as a whole."""
    message: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}:{self.column}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class PolicyError(ValueError):
    """A policy that cannot be used; `problems` holds every fault found, in document order.

    `stage` is `policy` when the document does not load, and `profile` when it loads but its plugins cannot be built.
    `warnings` are what else was found; they keep no policy from being used.
    """

    def __init__(
        self,
        problems: Sequence[DocumentProblem],
        stage: Literal["policy", "profile"] = "policy",
        warnings: Sequence[DocumentProblem] = (),
    ) -> None:
        self.problems: tuple[DocumentProblem, ...] = tuple(problems)
        self.warnings: tuple[DocumentProblem, ...] = tuple(warnings)
        self.stage: Literal["policy", "profile"] = stage
        super().__init__("\n".join(str(problem) for problem in self.problems))


def dotted(path: Sequence[str | int]) -> str:
    """`path` as it is written in messages, such as `profiles[0].pluginConfig[1].args`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def spelled(text: str) -> str:
    """`text` with everything that does not print escaped, and shortened, so that it cannot forge or flood output.

    Of a URL with a user part, which may hold a password, that part is hidden.
    """
    if "://" in text:
        text = shown_url(text)
    return clipped(text, _LONGEST_SHOWN)


def shown(text: str) -> str:
    """`text` in quotes, as `spelled`."""
    return f"'{spelled(text)}'"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest of `known`, or nothing when none is near."""
    if len(word) > _LONGEST_SHOWN:
        return ""
    by_lower_case = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.7)
    return f"; did you mean {shown(by_lower_case[near[0]])}?" if near else ""
