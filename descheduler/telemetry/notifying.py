"""Tells a webhook how a run ended. Whatever goes wrong with that is a warning and changes nothing about the run."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from descheduler.model.text.urls import is_web_url
from descheduler.telemetry.faults import error_words
from descheduler.telemetry.logging import fields, log_event
from descheduler.telemetry.notices import FORMATS, Notice, NoticeFormat, make_notice
from descheduler.telemetry.run_record import RunRecord
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import ExchangeError, SettingsError

_logger = logging.getLogger(__name__)
NoticeWhen = Literal["always", "evictions", "problems"]
_TIMEOUT_SECONDS = 5.0
_MOST_SECRET_BYTES = 16 << 10
_IS_DUE: Mapping[NoticeWhen, Callable[[Notice], bool]] = {
    "always": lambda notice: True,
    "evictions": lambda notice: notice.has_evictions or notice.is_problem,
    "problems": lambda notice: notice.is_problem,
}


class NoticeTarget(msgspec.Struct, frozen=True):
    """Which webhook is told, in which form, and of which runs. `url` or the content of `url_file` is its URL.

    `token_file` holds a bearer token, None for none. Files are read at the end of each run, so that secrets can be
    renewed. With `evictions` it is told of runs that evicted and of problems.
    """

    name: str
    url: str | None = None
    url_file: Path | None = None
    token_file: Path | None = None
    format: NoticeFormat = "json"
    when: NoticeWhen = "evictions"


def notify(record: RunRecord, target: NoticeTarget) -> None:
    """Tells the webhook of a run that has ended, if it is one of those that `target` is about."""
    notice = make_notice(record, target.name)
    if not _IS_DUE[target.when](notice):
        return
    try:
        url = target.url or _url_in(target.url_file)
    except SettingsError as error:
        _logger.warning("Notification not sent", extra=fields(reason=str(error)))
        return
    where = _shown(url)
    try:
        answer = _send(url, target, FORMATS[target.format](notice))
    except ExchangeError as error:
        _logger.warning("Notification not sent", extra=fields(url=where, reason=str(error)))
    except (OSError, ValueError) as error:
        _logger.warning("Notification not sent", extra=fields(url=where, reason=error_words(error)))
    else:
        if answer.is_success:
            log_event(_logger, "Notification sent", verbosity=1, url=where)
        else:
            why = f"the server answered {answer.status_code}"
            _logger.warning("Notification not sent", extra=fields(url=where, reason=why))


def _shown(url: str) -> str:
    """Scheme, host and port: the path of a webhook is often its secret."""
    split = urlsplit(url)
    return f"{split.scheme}://{split.netloc}"


def _url_in(file: Path | None) -> str:
    """Raises SettingsError, which never holds what the file does."""
    url = _secret_in(file, "the URL of the webhook") if file is not None else ""
    if not is_web_url(url) or "@" in url:
        raise SettingsError(f"{file} must hold one http or https URL without credentials")
    return url


def _secret_in(file: Path, what: str) -> str:
    """Raises SettingsError."""
    try:
        with file.open("rb") as read:
            return read.read(_MOST_SECRET_BYTES).decode().strip()
    except (OSError, ValueError) as error:
        raise SettingsError(f"{what} cannot be read from {file}: {error_words(error)}") from None


def _send(url: str, target: NoticeTarget, body: bytes) -> RawResponse:
    """Posts once; redirects are not followed. Raises ExchangeError, OSError and ValueError."""
    import urllib3

    from descheduler.transport.bounded_body import SHORT_BYTES
    from descheduler.transport.exchange import exchange
    from descheduler.transport.header_values import bearer
    from descheduler.transport.proxies import proxy_for
    from descheduler.transport.timed_connections import keep_to_time, whole_answer

    headers = {"Content-Type": "application/json", "Accept": "*/*", "User-Agent": "descheduler"}
    if target.token_file is not None:
        owner = "the token of the webhook"
        headers["Authorization"] = bearer(_secret_in(target.token_file, owner), owner)
    tls, proxy = ssl.create_default_context(), proxy_for(url)
    if proxy is None:
        made = urllib3.PoolManager(ssl_context=tls)
    else:
        made = urllib3.ProxyManager(proxy.url, proxy_headers=proxy.headers, ssl_context=tls)
    with keep_to_time(made) as pool:
        return exchange(
            lambda: pool.request(
                "POST",
                url,
                body=body,
                headers=headers,
                timeout=whole_answer(_TIMEOUT_SECONDS),
                retries=False,
                redirect=False,
                preload_content=False,
                enforce_content_length=True,
            ),
            what=f"notification to {_shown(url)}",
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=SHORT_BYTES,
        )
