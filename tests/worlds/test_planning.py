"""The sample of plans: profiles that plan find something to do in it that the other samples lack."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.request import SnapshotRequest
from tests.worlds.planning import write_planning

CONFIG = Path(__file__).parents[2] / "config"
SAMPLE = CONFIG / "samples" / "planning.jsonl.gz"


def test_bundled_sample_is_the_cluster_of_plans() -> None:
    out = io.BytesIO()

    write_planning(out)

    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), (
        "run: python -m tests.worlds.planning"
    )


def test_page_of_the_samples_says_how_large_it_is() -> None:
    snapshot = read_dump([SAMPLE], SnapshotRequest(set()))

    size = f"{len(snapshot.nodes)} nodes and {len(snapshot.pods)} pods"
    assert size in (SAMPLE.parent / "README.md").read_text("utf-8")
