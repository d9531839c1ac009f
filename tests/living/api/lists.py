"""Lists: selected, in pages, at one version, in JSON or in protobuf."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from tests.cluster.messages.writer import proto_list
from tests.faults.faults import Answer
from tests.faults.wire import json_answer
from tests.living.api.refusal import Refused
from tests.living.api.request import Request, Target
from tests.living.api.tables import node_table
from tests.living.selectors import field_test, label_test
from tests.living.store import Key, Object, Store

_PROTOBUF = "application/vnd.kubernetes.protobuf"
_IN_PROTOBUF = {"Pod", "Node"}


def listed(store: Store, target: Target, request: Request) -> Answer:
    """The list that `target` names. Raises Refused (400, 410, 504)."""
    version, after = _start(store, request)
    chosen = selection(target, request)
    keys = [item for item in sorted(store.items(target.resource, version).items()) if chosen(*item)]
    rest = [item for item in keys if after is None or item[0] > after]
    limit = int(request.query.get("limit") or 0) or len(rest)
    metadata: Object = {"resourceVersion": str(version)}
    if limit < len(rest):
        metadata["continue"] = _token(version, rest[limit - 1][0])
        metadata["remainingItemCount"] = len(rest) - limit
    items = [found for _, found in rest[:limit]]
    resource = target.resource
    if request.accept.startswith(_PROTOBUF) and resource.kind in _IN_PROTOBUF:
        body = proto_list(resource.kind, items, version=str(version), more=metadata.get("continue", ""))
        return Answer(200, body, content_type=_PROTOBUF)
    if "as=Table;" in request.accept and resource.kind == "Node":
        return json_answer(200, node_table(items, metadata))
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
    return json_answer(200, {**head, "metadata": metadata, "items": items})


def selection(target: Target, request: Request) -> Callable[[Key, Object], bool]:
    """Whether an object is in the list: by namespace, and by the selectors of the query. Raises Refused (400)."""
    try:
        labels = label_test(request.query.get("labelSelector", ""))
        fields = field_test(request.query.get("fieldSelector", ""))
    except ValueError as error:
        raise Refused(400, "BadRequest", f"unable to parse requirement: {error}") from error
    name = target.name

    def is_chosen(key: Key, found: Object) -> bool:
        if target.namespace not in ("", key[0]) or name not in ("", key[1]):
            return False
        return labels(found["metadata"].get("labels") or {}) and fields(found)

    return is_chosen


def _start(store: Store, request: Request) -> tuple[int, Key | None]:
    """The version of the list, and the key after which it goes on; None for its beginning."""
    wanted = request.query.get("resourceVersion", "")
    if token := request.query.get("continue"):
        if wanted:
            raise Refused(400, "BadRequest", "specifying resource version is not allowed when using continue")
        version, namespace, name = json.loads(base64.b64decode(token))
        if version < store.oldest_version:
            raise Refused(410, "Expired", "The provided continue parameter is too old to display a consistent list")
        return version, (namespace, name)
    if wanted not in ("", "0") and int(wanted) > store.version:
        text = f"Too large resource version: {wanted}, current: {store.version}"
        raise Refused(504, "Timeout", text, wait_seconds=1)
    if request.query.get("resourceVersionMatch") == "Exact":
        if int(wanted) < store.oldest_version:
            raise Refused(410, "Expired", f"The resourceVersion for the provided list is too old: {wanted}")
        return int(wanted), None
    return store.version, None


def _token(version: int, key: Key) -> str:
    value: Any = [version, *key]
    return base64.b64encode(json.dumps(value).encode()).decode()
