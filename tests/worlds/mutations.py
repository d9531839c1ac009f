"""Objects that somebody, or something, has damaged: one value replaced, taken away or doubled."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.builders import Object

_DEEP = "<deep>"
_BYTES = "<bytes>"
_RAW = {
    json.dumps(_DEEP).encode(): b'{"a":' * 1100 + b"5" + b"}" * 1100,
    json.dumps(_BYTES).encode(): b'"\xff\xfe\xc0"',
}
"""What no value of Python is written as."""
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    5,
    0.5,
    2**31,
    -(2**63),
    2**63,
    10**30,
    "",
    " ",
    "x",
    "-5",
    "1e999999999",
    "9" * 5000,
    "much",
    "-1h",
    "soon",
    "2562047h",
    "0000-00-00T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-01-02T03:04:05",
    "2026-13-02T03:04:05Z",
    "../../nodes",
    "a/b",
    "\x00\x1b[31m",
    "\u202e",
    "n" * 100_000,
    "[" * 3000,
    [],
    [None],
    [5],
    ["x", "x"],
    {},
    {"": None},
    {"cpu": -5},
    {"a": {"b": []}},
)
_RARE = (_DEEP, _DEEP, _BYTES)
_STATED_BY_SERVER = ("apiVersion", "kind")
"""No client can store another kind in a list."""
_Path = tuple[str | int, ...]


def mutations(sample: Object, number: int, seed: int) -> Iterator[bytes]:
    """`number` objects in JSON, each like `sample` but for one or two of its values.

    Those that still have a name each have another one, and another UID.
    """
    random, text_of_sample = Random(seed), json.dumps(sample)
    paths = [path for path in _paths(sample, ()) if path[0] not in _STATED_BY_SERVER]
    for index in range(number):
        mutant: Object = json.loads(text_of_sample)
        mutant["metadata"] |= {"name": f"odd-{index}", "uid": f"odd-{index}"}
        for path in random.choices(paths, k=random.choice((1, 1, 1, 2))):
            _mutate(mutant, path, random)
        text = json.dumps(mutant).encode()
        for stated, meant in _RAW.items():
            text = text.replace(stated, meant)
        yield text


def _mutate(mutant: Object, path: _Path, random: Random) -> None:
    whole: Any = mutant
    for step in path[:-1]:
        try:
            whole = whole[step]
        except (LookupError, TypeError):
            return  # the first of two mutations has taken it away
    key = path[-1]
    match random.randrange(8), whole:
        case 0, dict():
            whole.pop(key, None)
        case 1, list():
            whole.append(copy.deepcopy(whole[0]) if whole else None)
        case 2, dict():
            whole["odd" * random.choice((1, 1000))] = whole.pop(key, None)
        case _, dict():
            whole[key] = _value(random)
        case _, list() if isinstance(key, int):
            whole[key : key + 1] = [_value(random)]


def _value(random: Random) -> Any:
    return copy.deepcopy(random.choice(_RARE if random.random() < 0.001 else _VALUES))


def _paths(value: Any, path: _Path) -> Iterator[_Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from _paths(part, (*path, key))
