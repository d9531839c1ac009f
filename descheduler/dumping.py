"""A cluster to a file: everything that a later run on the dump may want to read."""

from __future__ import annotations

import errno
from contextlib import closing
from datetime import datetime
from pathlib import Path

from descheduler.cluster.dump_kinds import DUMP_KINDS
from descheduler.cluster.live import dump_live
from descheduler.cluster.redaction import without_userinfo
from descheduler.cluster.write import DumpWriter
from descheduler.cycle import ConnectionOptions
from descheduler.kube.client import connect
from descheduler.output_file import written_file

__all__ = ["dump_cluster"]

_OWNER_ALONE = 0o600


def dump_cluster(connection: ConnectionOptions, path: Path | None, *, taken_at: datetime) -> None:
    """Writes a dump of the cluster to `path`, None for standard output, where it appears only when the dump is whole.

    Raises KubeError when the cluster cannot be reached, SnapshotError when it cannot be read whole, OSError when the
    file cannot be written or is a terminal.
    """
    options = (connection.kubeconfig, connection.context, connection.as_user, connection.request_timeout_seconds)
    with written_file(path, mode=_OWNER_ALONE) as out, closing(connect(*options)) as client:
        if out.isatty():
            raise OSError(errno.EINVAL, "it is a terminal and a dump is compressed; redirect it, or name a file")
        source = without_userinfo(client.host)
        dump_live(client, DUMP_KINDS, DumpWriter(out, taken_at, DUMP_KINDS, source=source))
