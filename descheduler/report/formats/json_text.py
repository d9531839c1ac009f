"""Documents as JSON."""

from __future__ import annotations

import msgspec

from descheduler.report.document import Fields

__all__ = ["json_text"]


def json_text(document: Fields) -> str:
    """The whole document, indented, with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
