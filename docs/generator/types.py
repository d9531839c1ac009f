"""Types of arguments and their defaults, as the pages write them."""

from __future__ import annotations

import msgspec

from descheduler.explanation.docs.arguments import default_json, type_words
from docs.generator.markdown import anchor


def type_text(kind: object) -> str:
    """What a value of the type is, with links to the parts that have a section of their own."""
    return type_words(kind, _link)


def default_text(value: object) -> str:
    """A default as it would be written in the policy; empty for what is simply unset."""
    text = default_json(value)
    return f"`{text}`" if text else ""


def _link(part: type[msgspec.Struct]) -> str:
    return f"[{part.__name__}]({anchor(part.__name__)})"
