"""Colours for terminals, and none for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PLAIN", "Palette", "wants_colour"]

_RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Palette:
    """Marks up text; leaves it alone unless `is_coloured`."""

    is_coloured: bool

    def heading(self, text: str) -> str:
        """A column header or a title."""
        return self._marked("1", text)

    def warning(self, text: str) -> str:
        """Something to look at."""
        return self._marked("33", text)

    def failure(self, text: str) -> str:
        """Something to act on."""
        return self._marked("31", text)

    def _marked(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{_RESET}" if self.is_coloured else text


PLAIN = Palette(is_coloured=False)


def wants_colour(*, is_terminal: bool, environ: Mapping[str, str]) -> bool:
    """Whether to colour: on a terminal that can, unless NO_COLOR is set to anything (https://no-color.org)."""
    return is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
