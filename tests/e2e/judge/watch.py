"""A stream of the changes of all objects of one kind."""

from __future__ import annotations

from collections.abc import Generator
from urllib.parse import urlencode

import msgspec
import urllib3

from tests.e2e.kube_api import KubeApi, Object

_SILENCE_SECONDS = 30.0

Change = tuple[str, Object]
"""`ADDED`, `MODIFIED` or `DELETED`, and the object."""


class WatchFailedError(Exception):
    """The stream cannot go on, or nothing arrived for too long."""


class Watch:
    """Changes of the objects at `path` from the moment of construction on, in the order the API server tells them."""

    def __init__(self, api: KubeApi, path: str) -> None:
        self._api = api
        self._path = path
        self._pool = urllib3.PoolManager(ca_certs=str(api.ca_file) if api.ca_file else None)
        self._version: str = api.request("GET", f"{path}?limit=1")["metadata"]["resourceVersion"]
        self._changes = self._endless()

    def next_change(self) -> Change:
        """The next change; waits for it.

        Raises WatchFailedError after half a minute of silence and when the server has forgotten what came next.
        """
        return next(self._changes)

    def changes_within(self, seconds: int) -> Generator[Change, None, None]:
        """The changes of the next `seconds`, each as soon as it is known; raises WatchFailedError as above."""
        return self._until_closed(timeoutSeconds=str(seconds))

    def close(self) -> None:
        """Ends the stream: an API server that is asked to stop waits for its streams first."""
        self._changes.close()

    def _endless(self) -> Generator[Change, None, None]:
        while True:  # the server ends a watch now and then
            yield from self._until_closed()

    def _until_closed(self, **query: str) -> Generator[Change, None, None]:
        for line in self._lines(query):
            event = msgspec.json.decode(line)
            if event["type"] == "ERROR":
                raise WatchFailedError(f"the watch of {self._path} ended: {event['object'].get('message')}")
            self._version = event["object"]["metadata"]["resourceVersion"]
            yield event["type"], event["object"]

    def _lines(self, query: dict[str, str]) -> Generator[bytes, None, None]:
        whole = urlencode({"watch": "true", "resourceVersion": self._version, **query})
        answer = self._pool.request(
            "GET",
            f"{self._api.url}{self._path}?{whole}",
            headers={"Authorization": f"Bearer {self._api.token}"},
            timeout=_SILENCE_SECONDS,
            retries=False,
            preload_content=False,
        )
        rest = b""
        try:
            for chunk in answer.stream(None):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
        except urllib3.exceptions.ReadTimeoutError as error:
            raise WatchFailedError(f"{self._path} did not change for {_SILENCE_SECONDS:g} s") from error
        finally:
            answer.close()
