"""What a descheduling plugin is for, from the words that stand with its code."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from descheduler.explanation.docs.source import docstring, paragraphs
from descheduler.policy.plugin import PluginSpec

__all__ = ["about_arguments", "points_of", "procedure_of", "purpose_of"]

_NO_SOURCE = "Not described: this installation has no source files."
_ORDER = ("deschedule", "balance", "filter", "preEvictionFilter", "evict")


def purpose_of(spec: PluginSpec[Any]) -> str:
    """The rest of the first paragraph of the module that runs it, which starts with the plugin's name."""
    about = paragraphs(docstring(sys.modules[inspect.unwrap(spec.factory).__module__]))
    return _capitalised(re.sub(rf"^(Plugin )?{spec.name}: ", "", about[0])) if about else _NO_SOURCE


def procedure_of(spec: PluginSpec[Any]) -> Iterator[str]:
    """How it goes about it: the paragraphs at its extension points."""
    for point in ("deschedule", "balance"):
        if point in spec.extension_points:
            yield from paragraphs(docstring(getattr(inspect.unwrap(spec.factory), point)))


def points_of(spec: PluginSpec[Any]) -> tuple[str, ...]:
    """The extension points, in the order in which a run comes by them."""
    return tuple(point for point in _ORDER if point in spec.extension_points)


def about_arguments(spec: PluginSpec[Any]) -> str:
    """What is to be said of the arguments as a whole; often nothing."""
    about = paragraphs(docstring(spec.args_type))
    return _capitalised(re.sub(rf"Arguments of {spec.name}[;.] *", "", about[0])) if about else ""


def _capitalised(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"
