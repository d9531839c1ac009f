"""The evictions that are booked, with the pods that come: by these it is told whether anything has changed since."""

from __future__ import annotations

from descheduler.eviction.plugin_evictor import PluginEvictor


class BookedArrivals:
    """What is booked with `evictor` now, as it lists `arrivals`.

    Two are equal where the same pods leave, and their replacements come to the same nodes and get the same there.
    Trials of several plans evict the same pods, whose replacements are then scheduled elsewhere.
    """

    def __init__(self, evictor: PluginEvictor) -> None:
        self.arrivals = evictor.arrivals()
        self._key = [
            (pod.uid, None if arrival is None else (arrival.node_name, arrival.annotations))
            for pod, arrival in self.arrivals
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BookedArrivals) and self._key == other._key

    __hash__ = None  # type: ignore[assignment]
