"""The part of an `Explanation` about pods that wait for what is explained."""

from __future__ import annotations

from descheduler.documents.fields import Fields
from descheduler.report.document import PodReference

__all__ = ["WaitingPod"]


class WaitingPod(Fields, frozen=True):
    """A pending pod that what is explained could help, and why it is pending.

    `message` is empty for pods after the first 20, which are not looked at.
    """

    pod: PodReference
    message: str
