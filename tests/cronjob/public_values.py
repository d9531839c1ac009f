"""Values for kubernetes-sigs/descheduler's chart 0.20 to 0.36, in the structures in which users keep them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["REFUSED", "RENDERED"]

_PROFILES = """
  profiles:
    - name: default
      pluginConfig:
        - name: DefaultEvictor
          args: {nodeFit: true, evictLocalStoragePods: true, ignorePvcPods: true}
        - name: LowNodeUtilization
          args: {thresholds: {cpu: 20, memory: 20}, targetThresholds: {cpu: 60, memory: 60}}
        - name: RemovePodsHavingTooManyRestarts
          args: {podRestartThreshold: 50, includingInitContainers: true}
      plugins:
        balance: {enabled: [LowNodeUtilization]}
        deschedule: {enabled: [RemovePodsHavingTooManyRestarts]}
"""

RENDERED: Mapping[str, str] = {
    "nothing at all": "",
    "comments alone": "# nothing to change\n",
    "a Deployment": "kind: Deployment\n",
    "a Deployment with an interval and leader election": """
kind: Deployment
deschedulingInterval: 10m
replicas: 2
leaderElection: {enabled: true, leaseDuration: 15s, resourceName: descheduler, resourceNamespace: kube-system}
podDisruptionBudget: {enabled: true, minAvailable: 1}
deploymentAnnotations: {reloader.stakater.com/auto: "true"}
""",
    "a CronJob with every time and limit": """
kind: CronJob
cronJobApiVersion: batch/v1
schedule: "0 3 * * *"
timeZone: Europe/Berlin
suspend: false
startingDeadlineSeconds: 200
successfulJobsHistoryLimit: 1
failedJobsHistoryLimit: 1
ttlSecondsAfterFinished: 600
""",
    "comments in place of limits": """
startingDeadlineSeconds: # 200
successfulJobsHistoryLimit: # 3
ttlSecondsAfterFinished: # 600
timeZone:
""",
    "the image of its registry": "image: {repository: registry.k8s.io/descheduler/descheduler, tag: v0.31.0}\n",
    "the image of the old registry": "image: {repository: k8s.gcr.io/descheduler/descheduler, pullPolicy: Always}\n",
    "the image of a mirror": "image: {repository: harbor.corp.example/registry.k8s.io/descheduler/descheduler}\n",
    "a tag alone": "image: {tag: v0.30.1}\n",
    "a registry beside the image": "image: {registry: reg.example, repository: own, pullSecrets: [{name: a}]}\n",
    "secrets for pulling": "imagePullSecrets: [{name: regcred}]\n",
    "resources without a limit of CPU": "resources: {requests: {cpu: 100m}, limits: {cpu: null, memory: 256Mi}}\n",
    "resources that are null": "resources: null\n",
    "no resources": "resources: {}\n",
    "mappings that are null": """
image:
rbac:
serviceAccount:
securityContext:
podSecurityContext:
nodeSelector:
affinity:
tolerations:
podAnnotations:
podLabels:
commonLabels:
dnsConfig:
leaderElection:
service:
serviceMonitor:
command:
""",
    "placement on nodes": """
priorityClassName: system-node-critical
nodeSelector: {kubernetes.io/os: linux, node-role.kubernetes.io/infra: ""}
tolerations:
  - {key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}
  - {key: CriticalAddonsOnly, operator: Exists}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: In, values: [arm64]}]}]
topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}
""",
    "an empty mapping for a list": "tolerations: {}\nimagePullSecrets: {}\n",
    "an empty list for a mapping": "nodeSelector: []\npodAnnotations: []\n",
    "security contexts": """
podSecurityContext: {fsGroup: 1000}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  privileged: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 1000
""",
    "flags": """
cmdOptions:
  v: 4
  dry-run: true
  logging-format: json
  client-connection-qps: 50
  client-connection-burst: 100
  feature-gates: "EvictionsInBackground=true"
  descheduling-interval: 5m
""",
    "flags and a command": "command: ['/bin/descheduler']\ncmdOptions: {v: 3, disable-metrics: true}\n",
    "a policy with the old arguments of DefaultEvictor": f"deschedulerPolicy:{_PROFILES}",
    "a policy with limits": f"""
deschedulerPolicyAPIVersion: "descheduler/v1alpha2"
deschedulerPolicy:
  maxNoOfPodsToEvictPerNode: 10
  maxNoOfPodsToEvictPerNamespace: 50
  maxNoOfPodsToEvictTotal: 100
  nodeSelector: "node=worker"
  gracePeriodSeconds: 60
  evictionFailureEventNotification: true{_PROFILES}""",
    "a whole document as the policy": f"""
deschedulerPolicy:
  apiVersion: descheduler/v1alpha2
  kind: DeschedulerPolicy{_PROFILES}""",
    "a policy with metrics": """
deschedulerPolicy:
  metricsProviders: [{source: KubernetesMetrics}]
  profiles:
    - name: usage
      pluginConfig:
        - {name: DefaultEvictor, args: {priorityThreshold: {value: 10000}, minReplicas: 2}}
        - name: LowNodeUtilization
          args:
            useDeviationThresholds: true
            metricsUtilization: {source: KubernetesMetrics}
            thresholds: {cpu: 10, memory: 10}
            targetThresholds: {cpu: 10, memory: 10}
            evictableNamespaces: {exclude: [kube-system]}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
""",
    "names": "nameOverride: ds\nfullnameOverride: descheduler-main\nnamespaceOverride: infra\n",
    "rights and account of others": "rbac: {create: false}\nserviceAccount: {create: false, name: descheduler-sa}\n",
    "an account without a name": "serviceAccount: {name: , annotations: {eks.amazonaws.com/role-arn: a}}\n",
    "labels and annotations": """
commonLabels: {app.kubernetes.io/part-of: platform}
podAnnotations: {sidecar.istio.io/inject: "false"}
podLabels: {team: sre}
cronJobAnnotations: {argocd.argoproj.io/sync-wave: "5"}
cronJobLabels: {tier: infra}
jobAnnotations: {a: b}
jobLabels: {a: b}
""",
    "what scrapes a Deployment": """
service: {enabled: true, ipFamilyPolicy: "", ipFamilies: []}
serviceMonitor:
  enabled: true
  namespace: monitoring
  additionalLabels: {prometheus: kube-prometheus-stack}
  interval: 30s
  honorLabels: true
  insecureSkipVerify: true
  serverName: null
  metricRelabelings: []
  relabelings: []
""",
    "a probe and ports": """
ports: [{containerPort: 10258, protocol: TCP}]
livenessProbe:
  failureThreshold: 3
  httpGet: {path: /healthz, port: 10258, scheme: HTTPS}
  initialDelaySeconds: 5
  periodSeconds: 20
  timeoutSeconds: 5
""",
    "a token of the user's own": """
automountServiceAccountToken: false
serviceAccount: {automountServiceAccountToken: false}
extraServiceAccountVolumes:
  - {name: token, projected: {sources: [{serviceAccountToken: {path: token, expirationSeconds: 3600}}]}}
extraServiceAccountVolumeMounts:
  - {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
""",
    "containers before": "initContainers: [{name: wait, image: busybox:1.36, command: [sh, -c, 'sleep 5']}]\n",
    "a name server": "dnsConfig: {options: [{name: ndots, value: '1'}]}\n",
    "the old PodSecurityPolicy": "podSecurityPolicy: {create: false}\n",
    "the values of an umbrella chart": "global: {imageRegistry: ''}\nenabled: true\n",
    "switched off without a parent chart": "enabled: false\n",
    "keys of other charts": "env: [{name: A, value: b}]\nhostNetwork: true\nrevisionHistoryLimit: 3\n",
    "anchors and merges": "cpu: &cpu 100m\nresources: {requests: {cpu: *cpu}, limits: {memory: 128Mi}}\n",
}
"""Name of a structure → values."""

REFUSED: Mapping[str, tuple[str, str]] = {
    "a v1alpha1 policy": (
        "deschedulerPolicyAPIVersion: descheduler/v1alpha1\n"
        "deschedulerPolicy: {strategies: {RemoveDuplicates: {enabled: true}}}\n",
        "deschedulerPolicyAPIVersion: descheduler/v1alpha1 is not supported; convert the policy",
    ),
    "a v1alpha1 policy as a whole document": (
        "deschedulerPolicy: {apiVersion: descheduler/v1alpha1, strategies: {RemoveDuplicates: {enabled: true}}}\n",
        "deschedulerPolicy.apiVersion: descheduler/v1alpha1 is not supported; convert the policy",
    ),
    "strategies without a version": (
        "deschedulerPolicy: {strategies: {LowNodeUtilization: {enabled: true}}}\n",
        "deschedulerPolicy.strategies is a field of descheduler/v1alpha1",
    ),
    "another kind of workload": ("kind: DaemonSet\n", "/kind"),
    "an API that is gone": ("cronJobApiVersion: batch/v1beta1\n", "/cronJobApiVersion"),
    "a misspelt key": ("shedule: '* * * * *'\n", "shedule is not a value of this chart; did you mean schedule?"),
    "swapped letters": ("resuorces: {}\n", "resuorces is not a value of this chart; did you mean resources?"),
    "a key in other letters": ("podannotations: {a: b}\n", "did you mean podAnnotations?"),
    "a key with dashes": ("service-account: {create: true}\n", "did you mean serviceAccount?"),
    "a key in the singular": ("toleration: []\n", "did you mean tolerations?"),
    "a policy in the plural": ("deschedulerPolicies: {}\n", "did you mean deschedulerPolicy?"),
    "a misspelt key in a mapping": (
        "image: {repositry: a}\n",
        "image.repositry is not a value of this chart; did you mean repository?",
    ),
    "an interval without a unit": ("kind: Deployment\ndeschedulingInterval: 5\n", "deschedulingInterval: 5 is not"),
    "an interval of days": ("kind: Deployment\ndeschedulingInterval: 1d\n", "deschedulingInterval: 1d is not"),
    "an interval of 0": ("kind: Deployment\ndeschedulingInterval: 0s\n", "deschedulingInterval: 0s is not above 0"),
    "text for a number": ("successfulJobsHistoryLimit: 'three'\n", "/successfulJobsHistoryLimit"),
    "text for a mapping": ("deschedulerPolicy: |\n  profiles: []\n", "/deschedulerPolicy"),
    "a number for a label": ("podLabels: {version: 1}\n", "/podLabels/version"),
    "an unknown profile": ("profile: plan-balanced\n", "profile: plan-balanced is not a profile of this chart; choose"),
    "a Pushgateway with a password": ("pushgateway: {url: 'http://a:b@push'}\n", "/pushgateway/url"),
}
"""Name of a structure → values, and what the refusal says of the key that is wrong."""
