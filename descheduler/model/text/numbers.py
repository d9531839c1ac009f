"""Numbers in texts: whole ones, lists of CPUs as Linux writes them (`0-3,6`), and numbers or percentages such as
`10%`.
"""

from __future__ import annotations

import re

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


_MOST_DIGITS = 18
"""As many as always fit into 64 bits. Python itself refuses texts of more than 4,300 digits with an error."""


def whole_number(text: str) -> int | None:
    """The number that `text` is, in at most 18 decimal digits without a sign; None where it is none of that form."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


PERCENTAGE_PATTERN = "^([1-9][0-9]?|100)%$"
_PERCENTAGE = re.compile(r"([1-9][0-9]?|100)%\Z")


def is_percentage(text: str) -> bool:
    """Whether it is one from 1% to 100%, without a sign, a fraction or leading zeros."""
    return _PERCENTAGE.match(text) is not None


def share_of(limit: int | str, whole: int) -> int:
    """`limit` itself when it is a number, else that percentage of `whole`, rounded down, and at least 1.

    Rounded down, as Kubernetes does with `maxUnavailable`, so that no more than the percentage leaves; at least 1, so
    that a percentage does not become a ban in a small cluster. Raises ValueError for a text that is no percentage.
    """
    if isinstance(limit, int):
        return limit
    if not is_percentage(limit):
        raise ValueError(f"{limit!r} is not a percentage from 1% to 100%")
    return max(1, whole * int(limit.removesuffix("%")) // 100)
