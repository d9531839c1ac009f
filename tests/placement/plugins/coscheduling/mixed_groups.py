"""Groups of two gangs of any match policies: which replacements koord-scheduler 1.8.0 binds, as it was measured.

Gang `a` needs two pods, gang `b` one, and both are of one group; all of them are bound first. In worlds that are
*short* one pod of `a` is deleted for good. Then pods are deleted and replaced at once, the replacements being created
in the order in which they are named. There is room for everything. Nothing had changed for 14 seconds, and for five
minutes and more in a second run, when the bound pods were counted; the replacements were all bound or none of them was.
`python -m pytest -m e2e_peers tests/e2e/peers/test_koord_gangs.py` asks the scheduler again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

ONCE, WAITING, BOTH = POLICIES = ("once-satisfied", "only-waiting", "waiting-and-running")

_SHORT = ("b-0", "a-0", "a-0 b-0", "b-0 a-0")
_COMPLETE = ("b-0", "a-1", "a-1 b-0", "b-0 a-1", "a-0 a-1 b-0", "b-0 a-1 a-0")

_MEASURED = {
    (ONCE, ONCE): ("++++", "++++++"),
    (ONCE, WAITING): ("----", "+-+-+-"),
    (ONCE, BOTH): ("-+--", "+++-+-"),
    (WAITING, ONCE): ("----", "-----+"),
    (WAITING, WAITING): ("----", "----++"),
    (WAITING, BOTH): ("----", "----++"),
    (BOTH, ONCE): ("----", "++-+-+"),
    (BOTH, WAITING): ("----", "+-++++"),
    (BOTH, BOTH): ("----", "++++++"),
}
"""By the policies of `a` and `b`: whether the pods of each entry of `_SHORT` and of `_COMPLETE` are bound again."""


class MixedGroup(NamedTuple):
    """One world: the policies of both gangs, whether `a` is short of a pod, and which pods are replaced in which order.

    `is_bound` tells whether their replacements are bound.
    """

    first: str
    second: str
    is_short: bool
    replaced: tuple[str, ...]
    is_bound: bool

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.first} and {self.second}{', short' * self.is_short}: {' '.join(self.replaced)}"

    @property
    def goes_by_order(self) -> bool:
        """Whether pods of one gang are scheduled alone, and those of the other are not: what becomes of them varies."""
        is_mixed = (self.first == ONCE) is not (self.second == ONCE)
        return is_mixed and len({name[0] for name in self.replaced}) == 2


def measured() -> Iterator[MixedGroup]:
    """All of them."""
    for (first, second), outcomes in _MEASURED.items():
        for is_short, sets, signs in zip((True, False), (_SHORT, _COMPLETE), outcomes, strict=True):
            for replaced, sign in zip(sets, signs, strict=True):
                yield MixedGroup(first, second, is_short, tuple(replaced.split()), sign == "+")
