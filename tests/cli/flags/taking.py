"""A command that takes some flags and returns what they say, and how it refuses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
import pytest

Added = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds flags to a command."""


def taken(added: Added, *arguments: str) -> Mapping[str, Any]:
    """What a command with these flags gets of `arguments`. Raises click.UsageError."""

    def command(**flags: object) -> Mapping[str, object]:
        return flags

    found: Mapping[str, Any] = click.command()(added(command)).main(list(arguments), "sample", standalone_mode=False)
    return found


def refusal(added: Added, *arguments: str) -> str:
    """The message with which it refuses `arguments`."""
    with pytest.raises(click.UsageError) as raised:
        taken(added, *arguments)
    return raised.value.format_message()
