"""What a fault makes of an honest answer."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

from tests.faults.faults import Answer, Delivery, Fault, Form, Lie, status_body
from tests.faults.wire import json_answer

BOMB_BYTES = 200_000_000
"""What the small gzip becomes."""

ENDLESS = "endless"
"""How the continue tokens of a list without end begin."""

_REASONS = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", 'pods "p" is forbidden: User "robot" cannot create resource "pods/eviction"'),
    404: ("", "404 page not found"),
    408: ("Timeout", "the request did not complete within the allotted time"),
    409: ("Conflict", "Operation cannot be fulfilled: the object has been modified"),
    410: ("Expired", "The provided continue parameter is too old"),
    422: ("Invalid", "Eviction is invalid: metadata.name: Invalid value"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    500: ("InternalError", "etcdserver: request timed out"),
    502: ("", "Bad Gateway"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "request did not complete within the allotted timeout"),
}


def distorted(honest: Answer, fault: Fault, *, elsewhere: str) -> Answer:
    """The answer that is sent; `elsewhere` is where redirects lead."""
    if fault.code == 302:
        return Answer(302, b"<html>moved</html>", (("Location", elsewhere),), "text/html")
    if fault.code:
        return _refusal(fault)
    if fault.lie is not None:
        return _lie(honest, fault.lie)
    if fault.delivery is Delivery.BOMB:
        return Answer(honest.code, _bomb(), (("Content-Encoding", "gzip"),))
    return honest


def _refusal(fault: Fault) -> Answer:
    reason, message = _REASONS[fault.code]
    waits = fault.form in (Form.STATUS_WITH_WAIT, Form.TEXT_WITH_WAIT)
    headers = (("Retry-After", str(fault.wait_seconds)),) if waits else ()
    if fault.form in (Form.TEXT, Form.TEXT_WITH_WAIT):
        return Answer(fault.code, message.encode(), headers, "text/plain")
    body = status_body(fault.code, reason, message, wait_seconds=fault.wait_seconds if waits else None)
    return Answer(fault.code, json.dumps(body).encode(), headers)


def _lie(honest: Answer, lie: Lie) -> Answer:
    match lie:
        case Lie.WRONG_JSON:
            return Answer(honest.code, b'{"kind": "List", "items": [{"metadata": ')
        case Lie.NESTED:
            return Answer(honest.code, _with_nest(honest))
        case Lie.FAILURE_STATUS:
            return json_answer(200, status_body(500, "InternalError", "etcdserver: leader changed"))
        case Lie.DONE:
            return json_answer(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
        case Lie.PARTIAL:
            return Answer(206, honest.body, (("Content-Range", "bytes 0-1/2"),))
        case Lie.NULL_ITEMS:
            return _changed(honest, items=None, metadata={"resourceVersion": "1"})
        case Lie.OTHER_KIND:
            return _changed(honest, kind="ConfigMapList", items=[], metadata={"resourceVersion": "1"})
        case Lie.ENDLESS:
            token = {"resourceVersion": "1", "continue": f"{ENDLESS}.1"}
            return _changed(honest, metadata=token)
    raise AssertionError(lie)


def _changed(honest: Answer, **parts: Any) -> Answer:
    return Answer(honest.code, json.dumps(json.loads(honest.body) | parts).encode())


def _with_nest(honest: Answer) -> bytes:
    nest = b'{"a":' * 1000 + b"1" + b"}" * 1000
    value = json.loads(honest.body)
    if isinstance(value, dict) and value.get("items"):
        value["items"][0]["status"] = "NEST"
        return json.dumps(value).encode().replace(b'"NEST"', nest)
    return nest


@cache
def _bomb() -> bytes:
    piece = b" " * 1_000_000
    return gzip.compress(b'{"kind":"Status",' + piece * (BOMB_BYTES // len(piece)) + b'"status":"Success"}', 1)
