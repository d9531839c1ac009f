"""The shipped ServiceAccount's token does all that runs need, and gets 403 on everything else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.snapshot import SnapshotError
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.transport.errors import ExchangeError
from tests.cronjob.manifests import BASE, named, only
from tests.cronjob.rbac import JOBS, Grant, grants_of, requested, status_grants
from tests.cronjob.rendering import Kustomize
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import ApiError, KubeApi, Object, wait_until
from tests.e2e.objects import node, stateful_set
from tests.e2e.program import koordinator_policy, policy
from tests.e2e.witness import FAST, Witness, watched_run
from tests.integration.fake_api import Request

HOME = "kube-system"
TAINTS = "RemovePodsViolatingNodeTaints"
WITH_LEASE = replace(FAST, lease=LeaseOptions(name="descheduler", namespace=HOME))
USAGE = {
    "thresholds": {"cpu": 1},
    "targetThresholds": {"cpu": 99},
    "metricsUtilization": {"source": "KubernetesMetrics"},
}
READS_OBJECTS = policy(
    TAINTS,
    evictor={
        "priorityThreshold": {"name": "system-cluster-critical"},
        "namespaceLabelSelector": {},
        "podProtections": {
            "extraEnabled": ["PodsWithPVC"],
            "config": {"PodsWithPVC": {"protectedStorageClasses": [{"name": "local"}]}},
        },
    },
)
READS_USAGE = policy("LowNodeUtilization", USAGE, point="balance", metricsProviders=[{"source": "KubernetesMetrics"}])
READS_LOAD = json.dumps(
    {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "load",
                "pluginConfig": [
                    {"name": "LowNodeLoad", "args": {"lowThresholds": {"cpu": 1}, "highThresholds": {"cpu": 2}}}
                ],
                "plugins": {"balance": {"enabled": [{"name": "LowNodeLoad"}]}},
            }
        ],
    }
)
"""Remembers something from run to run."""
READS_WORKLOADS = koordinator_policy(TAINTS, {"defaultJobMode": "EvictDirectly"})

ELSEWHERE = JOBS | status_grants("descheduler")

SUPERFLUOUS = [
    Grant("get", "", "secrets"),
    Grant("list", "", "secrets"),
    Grant("create", "", "pods/exec"),
    Grant("delete", "", "pods"),
    Grant("watch", "", "pods"),
    Grant("patch", "", "nodes"),
    Grant("update", "", "pods/status"),
    Grant("create", "apps", "deployments"),
    Grant("escalate", "rbac.authorization.k8s.io", "clusterroles"),
    Grant("*", "*", "*"),
]


@dataclass(frozen=True, slots=True)
class Account:
    """The service account of the base, on a cluster with something to evict."""

    cluster: Cluster
    api: KubeApi
    kubeconfig: Path
    roles: Mapping[str, Object]
    anybodys: frozenset[Grant]
    """What every account may do."""

    def granted(self) -> set[Grant]:
        """What the API server lets this account do, beyond what it lets every account do."""
        return rules_review(self.api) - self.anybodys

    def shipped(self) -> set[Grant]:
        """What the manifests grant."""
        return grants_of(self.roles.values())


@pytest.fixture
def account(cluster: Cluster, kustomize: Kustomize) -> Account:
    """The account with its roles, as the base installs them."""
    manifests = kustomize.build(BASE)
    # A Lease that an earlier run gave back is there to be updated, and the right to create one would go unused.
    cluster.api.request("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases")
    for manifest in manifests:
        if manifest["kind"] not in {"CronJob", "ConfigMap"}:
            cluster.create(manifest)
    cluster.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "anybody", "namespace": cluster.namespace}}
    )
    name = only(manifests, "ServiceAccount")["metadata"]["name"]
    made = Account(
        cluster,
        cluster.plane.api_as(HOME, name),
        cluster.plane.kubeconfig_as(HOME, name),
        named(manifests, "ClusterRole") | named(manifests, "Role"),
        frozenset(rules_review(cluster.plane.api_as(cluster.namespace, "anybody"))),
    )
    wait_until("the roles are in force", lambda: made.granted() == made.shipped())
    cluster.add_nodes(node("a"), node("b"))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2))
    return made


def test_runs_take_all_that_is_granted_and_nothing_else(account: Account) -> None:
    """The rights for jobs are taken where there are PodMigrationJobs; see `tests/cronjob/test_rbac_of_jobs`."""
    asked, denied = run_everything(account)

    assert denied == set()
    assert asked - ELSEWHERE == account.granted() - ELSEWHERE


def test_each_right_that_is_taken_away_is_missed_by_a_run(account: Account) -> None:
    """So the test above would fail if one were."""
    for grant in sorted(account.shipped() - lease_rights(account) - ELSEWHERE):
        with role_changed(account, without=grant):
            missed = (denied for witness in all_runs(account) if (denied := denied_by(witness)))

            assert next(missed, None) == {grant}


def test_each_right_to_the_lease_that_is_taken_away_ends_the_run_before_anything_is_evicted(account: Account) -> None:
    for grant in sorted(lease_rights(account)):
        account.cluster.api.request("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases")
        with role_changed(account, without=grant):
            witness = evicting_run(account, READS_OBJECTS)

            assert denied_by(witness) == {grant}
            assert not witness.evictions() or grant.verb == "update"


@pytest.mark.parametrize("grant", SUPERFLUOUS, ids=lambda grant: f"{grant.verb} {grant.group}/{grant.resource}")
def test_right_that_nothing_needs_is_seen(account: Account, grant: Grant) -> None:
    with role_changed(account, with_more=grant):
        assert account.granted() - account.shipped() == {grant}


@pytest.mark.parametrize("namespace", ["its own", "another"])
def test_account_gets_403_on_everything_else(account: Account, namespace: str) -> None:
    place = HOME if namespace == "its own" else account.cluster.namespace
    allowed = account.shipped() | account.anybodys

    answers = dict(try_everything(account, place))

    wrongly_let_in = {grant for grant, status in answers.items() if status != 403 and grant not in allowed}
    assert wrongly_let_in == set()
    assert sum(status == 403 for status in answers.values()) > 400
    for grant in (Grant("get", "", "secrets"), Grant("get", "", "pods/exec"), Grant("delete", "", "pods")):
        assert answers[grant] == 403


def all_runs(account: Account) -> Iterator[Witness]:
    """Runs of policies that read everything between them, each made when it is asked for.

    In the first a pod is replaced behind the plan's back, which has the program look at it again.
    """
    with suppress(ApiError):
        account.cluster.api.request("DELETE", f"/api/v1/namespaces/{HOME}/configmaps/descheduler-memory")
    yield evicting_run(account, READS_OBJECTS, replace_first=True)
    yield evicting_run(account, READS_WORKLOADS)
    yield evicting_run(account, READS_USAGE)
    for _ in range(2):  # the first creates its memory, the second updates it
        yield evicting_run(account, READS_LOAD)


def run_everything(account: Account) -> tuple[set[Grant], set[Grant]]:
    """What these runs took, and what of it was denied."""
    witnesses = list(all_runs(account))
    asked = {grant for witness in witnesses for grant in asked_by(witness)}
    return asked, {grant for witness in witnesses for grant in denied_by(witness)}


def evicting_run(account: Account, document: str, *, replace_first: bool = False) -> Witness:
    """A run that finds all pods on a node they do not tolerate; it may fail for want of rights."""
    cluster = account.cluster
    pods = cluster.wait_ready("store", 2)
    here = pods[0]["spec"]["nodeName"]
    for name in ("a", "b"):
        taints = [{"key": "closed", "effect": "NoSchedule"}] if name == here else []
        cluster.api.patch(node(name), {"spec": {"taints": taints}})
    replaced: list[Object] = []

    def before(method: str, path: str, _query: Mapping[str, str]) -> None:
        if replace_first and not replaced and path.endswith("/eviction"):
            victim = path.split("/")[-2]
            replaced.extend(pod for pod in pods if pod["metadata"]["name"] == victim)
            cluster.api.delete(replaced[0], grace_seconds=0)
            wait_until("the pod has a successor", lambda: is_replaced(cluster, replaced[0]))

    witness = Witness(account.kubeconfig, before=before)
    try:
        watched_run(witness, document, WITH_LEASE)
    except (ExchangeError, SnapshotError):
        assert denied_by(witness), "the run failed, and not for want of rights"
    return witness


def is_replaced(cluster: Cluster, pod: Object) -> bool:
    """Whether another pod has taken the name."""
    found = cluster.api.find(pod)
    return found is not None and found["metadata"]["uid"] != pod["metadata"]["uid"]


def asked_by(witness: Witness) -> set[Grant]:
    """What the requests took."""
    found = (requested(Request(exchange.method, exchange.path)) for exchange in witness.exchanges)
    return {grant for grant in found if grant is not None}


def denied_by(witness: Witness) -> set[Grant]:
    """What of it was answered with 403."""
    denied = (requested(Request(e.method, e.path)) for e in witness.exchanges if e.status_code == 403)
    return {grant for grant in denied if grant is not None}


def lease_rights(account: Account) -> set[Grant]:
    """The rights that are about the program's own Lease."""
    return {grant for grant in account.shipped() - JOBS if grant.resource == "leases"}


@contextmanager
def role_changed(account: Account, *, without: Grant | None = None, with_more: Grant | None = None) -> Iterator[None]:
    """One right less, or one more, for as long as this lasts."""
    role = next(
        role
        for name, role in account.roles.items()
        if (without in grants_of([role]) if without else name == "descheduler-read")
    )
    kept = grants_of([role]) - {without} | ({with_more} if with_more else set())
    expected = account.shipped() - {without} | ({with_more} if with_more else set())
    account.cluster.api.patch(role, {"rules": [rule(grant) for grant in sorted(kept)]})
    wait_until("the change is in force", lambda: account.granted() == expected)
    try:
        yield
    finally:
        account.cluster.api.patch(role, {"rules": role["rules"]})
        wait_until("the roles are as before", lambda: account.granted() == account.shipped())


def rule(grant: Grant) -> Object:
    """The grant as a rule of a role."""
    names = {"resourceNames": [grant.name]} if grant.name else {}
    return {"apiGroups": [grant.group], "resources": [grant.resource], "verbs": [grant.verb], **names}


def rules_review(api: KubeApi) -> set[Grant]:
    """What the API server's own authorizer says that the bearer may do, in `HOME` and on the cluster."""
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    answer = api.request("POST", path, {"spec": {"namespace": HOME}})
    return grants_of([{"rules": answer["status"]["resourceRules"]}])


def try_everything(account: Account, namespace: str) -> Iterator[tuple[Grant, int]]:
    """Every verb that the API server knows on every resource it serves, with the status that the account gets.

    Writes are dry, so that a right too many does no harm here.
    """
    for prefix, resource in served(account.cluster.api):
        group = prefix.split("/")[2] if prefix.startswith("/apis") else ""
        place = f"/namespaces/{namespace}" if resource["namespaced"] else ""
        plural, _, subresource = resource["name"].partition("/")
        collection = f"{prefix}{place}/{plural}"
        one = f"{collection}/nobody" + (f"/{subresource}" if subresource else "")
        for verb in resource["verbs"]:
            method, path = request_for(verb, collection, one, is_subresource=bool(subresource))
            yield Grant(verb, group, resource["name"]), status_of(account.api, method, path)


def request_for(verb: str, collection: str, one: str, *, is_subresource: bool) -> tuple[str, str]:
    """Method and path of a request that takes `verb`."""
    match verb:
        case "list":
            return "GET", f"{collection}?limit=1"
        case "watch":
            return "GET", f"{collection}?watch=1&timeoutSeconds=1"
        case "get":
            return "GET", one
        case "create":
            return "POST", f"{one if is_subresource else collection}?dryRun=All"
        case "update":
            return "PUT", f"{one}?dryRun=All"
        case "patch":
            return "PATCH", f"{one}?dryRun=All"
        case "delete":
            return "DELETE", f"{one}?dryRun=All"
        case "deletecollection":
            return "DELETE", f"{collection}?dryRun=All"
    raise AssertionError(f"a verb that no request is known for: {verb}")


def status_of(api: KubeApi, method: str, path: str) -> int:
    """The status of one request with an empty object."""
    content = "application/merge-patch+json" if method == "PATCH" else "application/json"
    try:
        api.request(method, path, None if method == "GET" else {}, content_type=content)
    except ApiError as error:
        return error.status
    return 200


def served(api: KubeApi) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every resource, with the path of its group and version."""
    groups = api.request("GET", "/apis")["groups"]
    for prefix in ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
        for resource in api.request("GET", prefix)["resources"]:
            yield prefix, resource
