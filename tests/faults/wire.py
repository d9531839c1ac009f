"""Answers made from JSON values."""

from __future__ import annotations

import json
from typing import Any

from tests.faults.faults import Answer


def json_answer(code: int, value: Any, **headers: str) -> Answer:
    """An answer with `value` as its JSON body; header names are given with `_` for `-`."""
    fields = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Answer(code, json.dumps(value).encode(), fields)
