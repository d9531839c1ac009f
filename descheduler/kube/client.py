"""`connect`, and the client it gives: raw bytes from and to the API server, with retries where repeating is safe."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import TypeVar

import msgspec

from descheduler.kube.answers import OBJECT_BYTES, decode_status, describe_body
from descheduler.kube.authentication.configuration import load_connection
from descheduler.kube.errors import ApiError, credentials_refused
from descheduler.kube.lists.body import ListPage, comes_in_one_piece
from descheduler.kube.lists.listing import list_pages
from descheduler.kube.lists.streamed import MessageBatch, list_messages, list_pieces
from descheduler.kube.retry import RetryPolicy, TokenBucket
from descheduler.transport.answer import RawResponse
from descheduler.transport.bounded_body import SHORT_BYTES
from descheduler.transport.errors import AnswerBroken, ExchangeError, TransportError, Withheld
from descheduler.transport.exchange import StreamedResponse, Transport
from descheduler.transport.header_values import user_header
from descheduler.version import VERSION

T = TypeVar("T")

_OK = 200


class CallCount:
    """How many requests were sent, from all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.number = 0

    def add(self) -> None:
        """Counts one more."""
        with self._lock:
            self.number += 1


class KubeClient:
    """Calls to one API server. Safe to use from several threads.

    `bucket` paces every request; None leaves reading unpaced, which is what a batch job that reads a cluster in
    hundreds of pages wants (the server's own priority and fairness protects it, and its 429 is honoured). `context` is
    that of the kubeconfig, "" for the service account of a pod.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        retry: RetryPolicy | None = None,
        bucket: TokenBucket | None = None,
        before_send: Callable[[str], None] = lambda path: None,
        after_answer: Callable[[int], None] = lambda status_code: None,
        context: str = "",
        calls: CallCount | None = None,
    ) -> None:
        self.host = transport.host
        self.context = context
        self.request_timeout_seconds = transport.timeout_seconds
        self.retry = retry or RetryPolicy()
        self._transport = transport
        self._bucket = bucket
        self._before_send = before_send
        self._after_answer = after_answer
        self._calls = calls or CallCount()

    @property
    def num_calls(self) -> int:
        """Requests sent so far, by clients that watch this one as well; the parts of one answer are one request."""
        return self._calls.number

    def watched(
        self, before_send: Callable[[str], None], after_answer: Callable[[int], None] = lambda status_code: None
    ) -> KubeClient:
        """The same client, which calls `before_send` with the path of each request; that may raise to forbid it.

        It is called between the parts of a list that is asked for as a whole as well. `after_answer` is called with the
        status of each single answer, 0 where none came that can be used.
        """
        return KubeClient(
            self._transport,
            retry=self.retry,
            bucket=self._bucket,
            before_send=before_send,
            after_answer=after_answer,
            context=self.context,
            calls=self._calls,
        )

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = SHORT_BYTES,
        accept: str = "application/json",
        content_type: str = "application/json",
        may_send: Callable[[], bool] = lambda: True,
    ) -> RawResponse:
        """The answer to one request whatever its status, without any retry. Raises TransportError, ExchangeError.

        `max_bytes` is the most that the body of an honest answer takes: unless told otherwise, that of a small object.
        `accept`, `content_type` and `may_send` as in `Transport.send`.
        """
        self._wait_for_turn(path)
        try:
            response = self._transport.send(
                method,
                path,
                query=query,
                body=body,
                max_bytes=max_bytes,
                accept=accept,
                content_type=content_type,
                may_send=may_send,
            )
        except Withheld:
            raise
        except TransportError:
            self._after_answer(0)
            raise
        self._after_answer(response.status_code)
        return response

    def fetch(
        self,
        path: str,
        decode: Callable[[bytes], T],
        *,
        query: Mapping[str, str] | None = None,
        max_bytes: int = OBJECT_BYTES,
        accept: str = "application/json",
    ) -> T:
        """What `decode` makes of the body of a successful GET; faults and overload are retried.

        A body that `decode` refuses (msgspec.DecodeError) was cut short on its way and counts as a fault.
        Raises ApiError for a refusal, TransportError when no usable answer came within the retry policy, ExchangeError
        for a success other than 200 (parts of an answer, or none), and AnswerTooLarge beyond `max_bytes`.
        """
        return self.retry.call(lambda: self._fetch_once(path, decode, query, max_bytes, accept))

    def list_pages(
        self,
        path: str,
        *,
        limit: int = 500,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> Iterator[ListPage]:
        """The pages of the list at `path`, of `limit` objects each; see `descheduler.kube.lists.listing.list_pages`.

        With a limit of 0 the list is asked for as a whole, and so is one of a kind whose servers know no limit; see
        `descheduler.kube.lists.streamed.list_pieces`.
        """
        selectors = {"labelSelector": label_selector, "fieldSelector": field_selector}
        query = {name: selector for name, selector in selectors.items() if selector}
        if limit and not comes_in_one_piece(path):
            return list_pages(self, path, limit=limit, query=query)
        return self._asked_for(path, list_pieces(self, path, query))

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        """The list at `path` in protobuf; see `descheduler.kube.lists.streamed.list_messages`."""
        return self._asked_for(path, list_messages(self, path, limit=limit))

    def open_stream(self, path: str, *, query: Mapping[str, str], accept: str) -> StreamedResponse:
        """The body of a successful GET, still to be read, of the first type of `accept` if the server has it.

        Faults and overload before it are retried; raises as `fetch`. The caller closes it.
        """
        return self.retry.call(lambda: self._open_once(path, query, accept))

    def close(self) -> None:
        """Closes idle connections."""
        self._transport.close()

    def _wait_for_turn(self, path: str) -> None:
        while self._bucket is not None and (wait_seconds := self._bucket.try_take()):
            self.retry.sleep(wait_seconds)
        self._before_send(path)
        self._calls.add()

    def _asked_for(self, path: str, parts: Generator[T, None, None]) -> Generator[T, None, None]:
        """`parts` of an answer, as long as it may be asked for: who forbids requests forbids the rest of it."""
        try:
            with closing(parts):
                for part in parts:
                    self._before_send(path)
                    yield part
        except AnswerBroken:
            # It will be asked for again.
            self.retry.sleep(self.retry.first_wait_seconds)
            raise

    def _open_once(self, path: str, query: Mapping[str, str], accept: str) -> StreamedResponse:
        self._wait_for_turn(path)
        response = self._transport.stream(path, query=query, accept=accept)
        if isinstance(response, StreamedResponse):
            return response
        raise self._fault("GET", path, response)

    def _fetch_once(
        self, path: str, decode: Callable[[bytes], T], query: Mapping[str, str] | None, max_bytes: int, accept: str
    ) -> T:
        response = self.send("GET", path, query=query, max_bytes=max_bytes, accept=accept)
        if response.status_code != _OK:
            raise self._fault("GET", path, response)
        try:
            return decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise TransportError(
                f"GET {path} on {self.host}: the answer is cut short or not what was asked "
                f"({describe_body(response.body)})"
            ) from error

    def _fault(self, method: str, path: str, response: RawResponse) -> ExchangeError:
        if not response.is_success:
            return self.refusal(method, path, response)
        return ExchangeError(
            f"{method} {path} on {self.host}: answered with HTTP status {response.status_code}, which is not the whole "
            "answer of an API server (200); check the proxies in front of it"
        )

    def refusal(self, method: str, path: str, response: RawResponse) -> ApiError:
        """What an answer that is no success says, as an error."""
        status = decode_status(response)
        text = f"{method} {path} on {self.host}: {status.message} ({status.code})"
        if status.code == 401:
            text = credentials_refused(self.host)
        return ApiError(
            text, status_code=status.code, reason=status.reason, retry_after_seconds=status.retry_after_seconds
        )


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    as_user: str | None = None,
    request_timeout: float = 30.0,
    qps: float | None = None,
    burst: int = 10,
    user_agent: str | None = None,
    *,
    retry: RetryPolicy | None = None,
    environ: Mapping[str, str] = os.environ,
) -> KubeClient:
    """A client for the cluster that kubectl would talk to with these settings; nothing is sent yet.

    `as_user` is impersonated; `request_timeout` is in seconds and bounds each answer, from the connection to its last
    byte, but for lists in protobuf, of any length, the time without progress; `qps` and `burst` pace every request,
    None not at all. Raises SettingsError.
    """
    connection = load_connection(kubeconfig, context, environ=environ)
    headers = {"User-Agent": user_agent or f"descheduler/{VERSION}"}
    if as_user:
        headers["Impersonate-User"] = user_header(as_user, "the user of --as")
    bucket = TokenBucket(qps, burst, now=time.monotonic) if qps else None
    transport = Transport(connection, headers=headers, timeout_seconds=request_timeout)
    return KubeClient(transport, retry=retry, bucket=bucket, context=connection.context)
