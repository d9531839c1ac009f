"""Every recorded decision of the reference descheduler is ours too.

The repository carries a part of the cases; `DESCHEDULER_CONFORMANCE_DIR` names a folder that holds all of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.runner import WITHOUT_COUNTERPART, Vector, difference_of, read_vectors
from tests.conformance.subset import FILES, VECTORS
from tests.series import Part, parts

_FOLDER = Path(os.environ.get("DESCHEDULER_CONFORMANCE_DIR") or VECTORS)


@cache
def _lines_by_group() -> dict[tuple[str, str], list[Vector]]:
    groups: dict[tuple[str, str], list[Vector]] = defaultdict(list)
    for vector in read_vectors(_FOLDER / name for name in FILES):
        if vector.get("function") not in WITHOUT_COUNTERPART:
            groups[vector["plugin"], vector["kind"]].append(vector)
    return groups


@pytest.mark.parametrize(("plugin", "kind"), [pytest.param(*group, id="-".join(group)) for group in _lines_by_group()])
@pytest.mark.parametrize("part", parts(3))
def test_recorded_cases_come_out_the_same(plugin: str, kind: str, part: Part) -> None:
    vectors = part.of(_lines_by_group()[plugin, kind])

    differences = {vector["id"]: found for vector in vectors if (found := difference_of(vector)) is not None}

    assert differences == {}
