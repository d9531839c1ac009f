"""Pods of which a plan cannot tell which parts of nodes they get, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.landings.openings import Openings


class Uncounted:
    """Such pods, each with the reason; `placed` ones stay where they are."""

    def __init__(self, pods: Iterable[Pod], openings: Openings) -> None:
        found = [(pod, why) for pod in pods if (why := openings.parts.why_uncounted(pod))]
        self.placed = [each for each in found if each[0].node_name]
        self._pending = [each for each in found if not each[0].node_name]

    def texts(self) -> Sequence[str]:
        """A clause of those that stay, and one of those that wait, with the first of them and its reason."""
        found = []
        if self.placed:
            number = len(self.placed)
            found.append(f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} not evicted{_why(self.placed)}")
        if self._pending:
            found.append(
                f"devices of {counted(len(self._pending), 'pending pod')} are not counted{_why(self._pending)}"
            )
        return found


def _why(pods: Sequence[tuple[Pod, str]]) -> str:
    """Such as ` (shop/cart-0: …)`."""
    pod, why = pods[0]
    return f" ({'' if len(pods) == 1 else 'for example '}{pod.key}: {why})"
