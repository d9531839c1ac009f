"""Lists of CPUs as Linux writes them, such as `0-3,6`."""

from __future__ import annotations

import re

__all__ = ["cpu_list_text", "parse_cpu_list"]

_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?\Z")
"""Five digits are more CPUs than any kernel is built for, and keep a typing error from filling the memory."""


def parse_cpu_list(text: str) -> frozenset[int]:
    """The CPUs of a list; an empty text has none. Raises ValueError naming the part that is no CPU or range of CPUs."""
    cpus: set[int] = set()
    for part in text.split(",") if text else ():
        match = _RANGE.match(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise ValueError(f"{part!r} is not a CPU or a range of CPUs, such as 6 or 0-3")
        cpus.update(range(first, last + 1))
    return frozenset(cpus)


def cpu_list_text(cpus: frozenset[int]) -> str:
    """The shortest list of `cpus`, in ascending order."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1][1:] = [cpu]
        else:
            runs.append([cpu])
    return ",".join("-".join(map(str, run)) for run in runs)
