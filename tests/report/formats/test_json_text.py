"""JSON comes in pieces, of which readers see nothing."""

from __future__ import annotations

import json

from descheduler.report.document import PodReference
from descheduler.report.formats.json_text import json_pieces, json_text


def test_pieces_of_a_large_document_make_up_its_text_wherever_they_end() -> None:
    name = "ä€" * 200_000
    document = PodReference(namespace="shop", name=name, uid="1")

    pieces = list(json_pieces(document))

    assert len(pieces) > 3
    assert "".join(pieces) == json_text(document)
    assert json.loads(json_text(document)) == {"namespace": "shop", "name": name, "uid": "1"}
    assert json_text(document).endswith("}\n")
