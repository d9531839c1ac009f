"""A stream of the changes of all pods."""

from __future__ import annotations

from collections.abc import Generator
from urllib.parse import urlencode

import msgspec
import urllib3

from tests.e2e.kube_api import KubeApi, Object

_SILENCE_SECONDS = 30.0


class WatchFailedError(Exception):
    """The stream cannot go on, or nothing arrived for too long."""


class PodWatch:
    """Changes of pods from the moment of construction on, in the order in which the API server tells them."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._pool = urllib3.PoolManager(ca_certs=str(api.ca_file) if api.ca_file else None)
        self._version: str = api.request("GET", "/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        self._changes = self._endless()

    def next_change(self) -> tuple[str, Object]:
        """The next change as its type (`ADDED`, `MODIFIED`, `DELETED`) and the pod; waits for it.

        Raises WatchFailedError after half a minute of silence and when the server has forgotten what came next.
        """
        return next(self._changes)

    def close(self) -> None:
        """Ends the stream: an API server that is asked to stop waits for its streams first."""
        self._changes.close()

    def _endless(self) -> Generator[tuple[str, Object], None, None]:
        while True:  # the server ends a watch now and then
            yield from self._until_closed()

    def _until_closed(self) -> Generator[tuple[str, Object], None, None]:
        for line in self._lines():
            event = msgspec.json.decode(line)
            if event["type"] == "ERROR":
                raise WatchFailedError(f"the watch of pods ended: {event['object'].get('message')}")
            self._version = event["object"]["metadata"]["resourceVersion"]
            yield event["type"], event["object"]

    def _lines(self) -> Generator[bytes, None, None]:
        query = urlencode({"watch": "true", "resourceVersion": self._version})
        answer = self._pool.request(
            "GET",
            f"{self._api.url}/api/v1/pods?{query}",
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
            raise WatchFailedError(f"no pod changed for {_SILENCE_SECONDS:g} s") from error
        finally:
            answer.close()
