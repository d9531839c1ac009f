"""Colours for terminals, and none for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

_RESET = "\x1b[0m"


class Tone(Enum):
    """How a text stands out; `value` is the code of the terminal."""

    PLAIN = ""
    HEADING = "1"
    WARNING = "33"
    """Something to look at."""
    FAILURE = "31"
    """Something to act on."""


class Palette(msgspec.Struct, frozen=True):
    """Marks up text; leaves it alone unless `is_coloured`."""

    is_coloured: bool

    def heading(self, text: str) -> str:
        """A column header or a title."""
        return self.toned(Tone.HEADING, text)

    def warning(self, text: str) -> str:
        """Something to look at."""
        return self.toned(Tone.WARNING, text)

    def failure(self, text: str) -> str:
        """Something to act on."""
        return self.toned(Tone.FAILURE, text)

    def toned(self, tone: Tone, text: str) -> str:
        """`text` in the tone."""
        return f"\x1b[{tone.value}m{text}{_RESET}" if self.is_coloured and tone.value else text


PLAIN = Palette(is_coloured=False)


def wants_colour(*, is_terminal: bool, environ: Mapping[str, str]) -> bool:
    """Whether to colour: on a terminal that can, unless the environment says otherwise.

    NO_COLOR set to anything is always no (https://no-color.org); CLICOLOR_FORCE set to anything but 0 is yes also
    without a terminal, CLICOLOR=0 is no (https://bixense.com/clicolors).
    """
    if environ.get("NO_COLOR"):
        return False
    if environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"
