"""A cluster in which every secret that a run comes across holds a marker, and everything that the run leaves behind."""

from __future__ import annotations

import base64
import json
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from descheduler.cli.main import main
from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.fake_proxy import FakeProxy
from tests.integration.live_runs import balancing, serve

MARKER = "CANARY"
"""Part of every secret."""

QUERY = "avg by (instance) (load)"
TOKEN_SECRET = ", authToken: {secretReference: {namespace: monitoring, name: token}}"
"""The end of the settings for Prometheus in the policy."""

_OWN_GROUP = "client.authentication.k8s.io/v1"


@dataclass
class CanaryWorld:
    """An API server over https behind a proxy, a Prometheus server, and the files of one operator.

    `user` is the user of the kubeconfig, `cluster` are further settings of its cluster.
    """

    folder: Path
    api: FakeApi
    prometheus: FakeApi
    proxy: FakeProxy
    user: dict[str, Any] = field(default_factory=lambda: {"token": f"{MARKER}-token\n"})
    cluster: dict[str, Any] = field(default_factory=dict)
    policy: str = ""
    flags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        serve(self.api, node_object("busy"), node_object("idle"))
        serve(self.api, *(pod_object(f"p{number}", node="busy") for number in range(4)))
        self.put_secret(f"{MARKER}-secret")
        result = [{"metric": {"instance": n}, "value": [1.0, v]} for n, v in (("busy", "0.9"), ("idle", "0.1"))]
        self.prometheus.prometheus = {"status": "success", "data": {"resultType": "vector", "result": result}}
        self.cluster["proxy-url"] = f"http://ops:{MARKER}-proxy@{self.proxy.address}"
        self.policy = self.policy_for(self.prometheus.url.replace("://", f"://ops:{MARKER}-url@"))

    def policy_for(self, url: str) -> str:
        """A policy that balances by a query to the Prometheus server at `url`, with a token from a Secret."""
        return balancing(
            "{thresholds: {MetricResource: 20}, targetThresholds: {MetricResource: 50}, "
            f"metricsUtilization: {{source: Prometheus, prometheus: {{query: {QUERY!r}}}}}}}",
            f"metricsProviders: [{{source: Prometheus, prometheus: {{url: {json.dumps(url)}{TOKEN_SECRET}}}}}]",
        )

    def put_secret(self, token: str) -> None:
        """Puts the Secret with the token for Prometheus on the server."""
        data = {"prometheusAuthToken": base64.b64encode(token.encode()).decode()}
        self.api.objects["/api/v1/secrets"] = [{"metadata": {"name": "token", "namespace": "monitoring"}, "data": data}]

    def use_plugin(self, printed: str = "", *, code: int = 0) -> None:
        """Has a credential plugin give the token; it also complains about it on standard error."""
        status = {"token": f"{MARKER}-plugin\n"}
        credential = printed or json.dumps({"apiVersion": _OWN_GROUP, "kind": "ExecCredential", "status": status})
        file = self.folder / "login"
        complaint = f"{MARKER}-complaint"
        file.write_text(
            f"#!{sys.executable}\nimport sys\nprint({credential!r})\nprint({complaint!r}, file=sys.stderr)\n"
            f"sys.exit({code})\n"
        )
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        self.user = {"exec": {"command": "./login", "apiVersion": _OWN_GROUP, "args": [f"{MARKER}-argument"]}}

    def use_token_file(self, content: bytes) -> None:
        """Has a file give the token."""
        (self.folder / "token").write_bytes(content)
        self.user = {"tokenFile": "token"}

    def write(self) -> tuple[Path, Path]:
        """The files of the policy and of the kubeconfig."""
        policy, kubeconfig = self.folder / "policy.yaml", self.api.write_kubeconfig(self.folder / "kubeconfig")
        policy.write_text(self.policy)
        document = yaml.safe_load(kubeconfig.read_text())
        document["users"][0]["user"] = self.user
        document["clusters"][0]["cluster"] |= self.cluster
        kubeconfig.write_text(yaml.safe_dump(document))
        return policy, kubeconfig

    def run(self, *flags: str) -> int:
        """The exit code of `descheduler run` in this process, as talkative as can be."""
        policy, kubeconfig = self.write()
        return main(
            [
                *("run", "--config", str(policy), "--kubeconfig", str(kubeconfig), "-v", "9"),
                *("--metrics-textfile", str(self.folder / "run.prom"), *self.flags, *flags),
            ]
        )

    def left_behind(self) -> str:
        """Everything that the servers were told besides header fields, Events included, and the metrics."""
        metrics = self.folder / "run.prom"
        told = [
            json.dumps([request.path, request.query, request.body])
            for server in (self.api, self.prometheus)
            for request in server.requests
        ]
        return "\n".join([*told, metrics.read_text() if metrics.exists() else ""])
