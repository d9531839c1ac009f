"""Values for kubernetes-sigs/descheduler's chart 0.20 to 0.36, in the structures in which users keep them."""

from __future__ import annotations

from collections.abc import Mapping

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
    "a tag with a digest": "image: {tag: 'v0.35.1@sha256:%s'}\n" % ("a" * 64),
    "a schedule by name": "schedule: '@hourly'\n",
    "a schedule with spaces around it": "schedule: ' */30 * * * * '\n",
    "a toleration of everything": "tolerations: [{operator: Exists}]\n",
    "quantities as numbers": "resources: {requests: {cpu: 0.5, memory: 268435456}, limits: {memory: 1Gi}}\n",
    "flags without a value": "cmdOptions: {dry-run: , disable-metrics: }\n",
    "flags as text": "cmdOptions: {v: '4', dry-run: 'true'}\n",
    "containers before, with a volume": """
initContainers: [{name: wait, image: busybox, volumeMounts: [{name: work, mountPath: /work}]}]
extraVolumes: [{name: work, emptyDir: {}}]
""",
    "a name server with all it can have": """
dnsConfig: {nameservers: [10.0.0.10], searches: [svc.cluster.local], options: [{name: ndots, value: "2"}]}
""",
    "what scrapes a Deployment, with rules": """
kind: Deployment
service: {enabled: true, clusterIP: None, annotations: {prometheus.io/scrape: "true"}}
serviceMonitor:
  enabled: true
  metricRelabelings: [{action: keep, regex: descheduler_.*, sourceLabels: [__name__]}]
  relabelings: [{sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}]
""",
    "a policy whose arguments have a kind": """
deschedulerPolicy:
  profiles:
    - name: Default
      pluginConfig:
        - name: RemovePodsViolatingTopologySpreadConstraint
          args:
            apiVersion: descheduler/v1alpha2
            kind: RemovePodsViolatingTopologySpreadConstraintArgs
            constraints: [DoNotSchedule, ScheduleAnyway]
            topologyBalanceNodeFit: true
      plugins: {balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint]}}
""",
    "a policy with empty parts": """
deschedulerPolicy:
  nodeSelector:
  profiles:
    - name: default
      pluginConfig: [{name: RemoveDuplicates, args: {}}, {name: DefaultEvictor, args: }]
      plugins:
        balance: {enabled: [RemoveDuplicates], disabled: []}
        deschedule: {enabled: }
        filter: {}
        presort: {}
        sort: {enabled: []}
""",
    "a policy with anchors": """
x-namespaces: &namespaces {exclude: [kube-system, monitoring]}
x-evictor: &evictor {nodeFit: true, minReplicas: 2}
deschedulerPolicy:
  profiles:
    - name: default
      pluginConfig:
        - {name: DefaultEvictor, args: {<<: *evictor, minPodAge: 5m}}
        - {name: RemoveDuplicates, args: {namespaces: *namespaces}}
        - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 86400, states: [Running], namespaces: *namespaces}}
      plugins: {balance: {enabled: [RemoveDuplicates]}, deschedule: {enabled: [PodLifeTime]}}
""",
    "a policy of several profiles": """
deschedulerPolicy:
  profiles:
    - name: failed
      pluginConfig:
        - {name: DefaultEvictor, args: {evictFailedBarePods: true, evictSystemCriticalPods: true}}
        - {name: RemoveFailedPods, args: {reasons: [NodeShutdown, Terminated], excludeOwnerKinds: [Job]}}
      plugins: {deschedule: {enabled: [RemoveFailedPods]}}
    - name: packing
      pluginConfig: [{name: HighNodeUtilization, args: {thresholds: {cpu: 40}}}]
      plugins: {balance: {enabled: [HighNodeUtilization]}}
""",
    "a policy with metrics of old versions": """
deschedulerPolicy:
  metricsCollector: {enabled: true}
  profiles:
    - name: usage
      pluginConfig:
        - name: LowNodeUtilization
          args:
            thresholds: {cpu: 20}
            targetThresholds: {cpu: 50}
            metricsUtilization: {metricsServer: true}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
""",
    "a policy with Prometheus": """
deschedulerPolicy:
  metricsProviders:
    - source: Prometheus
      prometheus: {url: "http://prometheus:9090", authToken: {secretReference: {namespace: monitoring, name: token}}}
  profiles:
    - name: usage
      pluginConfig:
        - name: LowNodeUtilization
          args:
            thresholds: {MetricResource: 20}
            targetThresholds: {MetricResource: 50}
            metricsUtilization: {source: Prometheus, prometheus: {query: "instance:node_cpu:rate:sum"}}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
""",
    "a policy with templates": """
fullnameOverride: ds
deschedulerPolicy:
  nodeSelector: "release={{ .Release.Name }}"
  profiles:
    - name: "{{ .Chart.Name }}"
      pluginConfig: [{name: RemoveDuplicates}]
      plugins: {balance: {enabled: [RemoveDuplicates]}}
""",
    "limits of v1alpha1 without strategies": """
deschedulerPolicy: {evictLocalStoragePods: true, ignorePvcPods: true, maxNoOfPodsToEvictPerNode: 3}
""",
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
    "text for a list": ("imagePullSecrets: [regcred]\n", "/imagePullSecrets/0"),
    "text for a boolean": ("suspend: 'true'\n", "/suspend"),
    "text for a security context": ("podSecurityContext: restricted\n", "/podSecurityContext"),
    "a mapping for a list": ("tolerations: {key: dedicated, operator: Exists}\n", "/tolerations"),
    "containers by name": ("initContainers: {wait: {image: busybox}}\n", "/initContainers"),
    "a list for a mapping": ("resources: {limits: [cpu]}\n", "/resources/limits"),
    "a flag left empty": ("cmdOptions: {dry-run: ''}\n", "/cmdOptions/dry-run"),
    "a list of flags": ("cmdOptions: [--v=3]\n", "/cmdOptions"),
    "flags with dashes": ("cmdOptions: {--v: 3}\n", "cmdOptions: --v is not the name of a flag"),
    "flags with a blank": ("cmdOptions: {a b: c}\n", "cmdOptions: a b is not the name of a flag"),
    "a mapping for a flag": ("cmdOptions: {v: {level: 3}}\n", "/cmdOptions/v"),
    "a schedule with seconds": ("schedule: '0 0 3 * * *'\n", "/schedule"),
    "a schedule with a time zone": ("schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *'\n", "/schedule"),
    "a number for a schedule": ("schedule: 5\n", "/schedule"),
    "a boolean for a label of nodes": ("nodeSelector: {worker: true}\n", "/nodeSelector/worker"),
    "a pull policy in other letters": ("image: {pullPolicy: always}\n", "/image/pullPolicy"),
    "profiles by name": (
        "deschedulerPolicy: {profiles: {default: {plugins: {}}}}\n",
        "deschedulerPolicy.profiles is not a list",
    ),
    "profiles as text": ("deschedulerPolicy: {profiles: default}\n", "deschedulerPolicy.profiles is not a list"),
    "the values of a parent chart": (
        "descheduler: {deschedulerPolicy: {profiles: []}}\n",
        "descheduler.deschedulerPolicy is not a value of this chart",
    ),
    "a HelmRelease": (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nspec: {values: {deschedulerPolicy: {profiles: []}}}\n",
        "spec.values.deschedulerPolicy is not a value of this chart",
    ),
    "a number for a label": ("podLabels: {version: 1}\n", "/podLabels/version"),
    "an unknown profile": ("profile: plan-balanced\n", "profile: plan-balanced is not a profile of this chart; choose"),
    "a Pushgateway with a password": ("pushgateway: {url: 'http://a:b@push'}\n", "/pushgateway/url"),
}
"""Name of a structure → values, and what the refusal says of the key that is wrong."""
