"""The share of calls to the API server that it does not serve."""

from __future__ import annotations

from collections import deque

__all__ = ["ApiErrors"]

_WINDOW = 50
_LEAST_CALLS = 20


class ApiErrors:
    """Counts the latest calls, from any thread. `most_percent` of them may fail."""

    def __init__(self, most_percent: int) -> None:
        self._most_percent = most_percent
        self._latest: deque[bool] = deque(maxlen=_WINDOW)

    def note(self, status_code: int) -> None:
        """Takes note of an answer; 0 stands for none that can be used. A 429 may be a budget's and is no error."""
        self._latest.append(status_code == 0 or status_code >= 500)

    def why(self) -> str:
        """What is wrong, to be read after "stopped by"; "" while nothing is."""
        latest = list(self._latest)
        num_errors = sum(latest)
        if len(latest) < _LEAST_CALLS or 100 * num_errors <= self._most_percent * len(latest):
            return ""
        return (
            f"{num_errors} errors in the last {len(latest)} API calls (guards.maxAPIErrorRate: {self._most_percent}%)"
        )
