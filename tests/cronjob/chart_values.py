"""Values for the chart, as users of it and of kubernetes-sigs/descheduler have them."""

from __future__ import annotations

BY_METRICS = """
deschedulerPolicy:
  metricsProviders: [{source: KubernetesMetrics}]
  profiles:
    - name: p
      pluginConfig:
        - name: LowNodeUtilization
          args:
            thresholds: {cpu: 20}
            targetThresholds: {cpu: 50}
            metricsUtilization: {source: KubernetesMetrics}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
"""


BY_PROMETHEUS = """
deschedulerPolicy:
  metricsProviders:
    - source: Prometheus
      prometheus:
        url: http://prometheus.example
        authToken: {secretReference: {namespace: monitoring, name: token}}
  profiles:
    - name: p
      pluginConfig: [{name: RemovePodsViolatingNodeTaints}]
      plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""


KOORDINATOR = """
deschedulerPolicyKind: DeschedulerConfiguration
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - {name: RemovePodsViolatingNodeTaints}
        - {name: MigrationController, args: {}}
      plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
"""


PLANNING = """
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - name: MigrationPlanner
          args: {objectives: [{balanceUtilization: {targetThresholds: {cpu: 70}}}]}
      plugins: {balance: {enabled: [MigrationPlanner]}}
"""


DRAINING = """
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - name: MigrationPlanner
          args: {objectives: [{drainNodes: {nodes: [a], cordon: true}}]}
      plugins: {balance: {enabled: [MigrationPlanner]}}
"""


PLANNING_BY_NODE_METRICS = """
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - name: MigrationPlanner
          args:
            objectives:
              - balanceUtilization: {targetThresholds: {cpu: 70}, metricsUtilization: {source: NodeMetric}}
      plugins: {balance: {enabled: [MigrationPlanner]}}
"""


UPSTREAM = """
schedule: "*/2 * * * *"
imagePullSecrets:
resources: {requests: {cpu: 500m, memory: 256Mi}, limits: {cpu: 500m, memory: 256Mi}}
ports: [{containerPort: 10258, protocol: TCP}]
securityContext: {runAsUser: 1000}
podSecurityContext: {}
namespaceOverride: ""
deschedulingInterval: 5m
replicas: 1
leaderElection: {}
command: ["/bin/descheduler"]
cmdOptions: {v: 3}
deschedulerPolicyAPIVersion: descheduler/v1alpha2
deschedulerPolicy:
  profiles:
    - name: default
      pluginConfig:
        - name: DefaultEvictor
          args:
            podProtections: {defaultDisabled: [PodsWithLocalStorage], extraEnabled: [PodsWithPVC]}
        - name: RemoveDuplicates
        - name: RemovePodsHavingTooManyRestarts
          args: {podRestartThreshold: 100, includingInitContainers: true}
        - name: RemovePodsViolatingNodeAffinity
          args: {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}
        - name: RemovePodsViolatingNodeTaints
        - name: RemovePodsViolatingInterPodAntiAffinity
        - name: RemovePodsViolatingTopologySpreadConstraint
        - name: LowNodeUtilization
          args:
            thresholds: {cpu: 20, memory: 20, pods: 20}
            targetThresholds: {cpu: 50, memory: 50, pods: 50}
      plugins:
        balance: {enabled: [RemoveDuplicates, RemovePodsViolatingTopologySpreadConstraint, LowNodeUtilization]}
        deschedule:
          enabled:
            - RemovePodsHavingTooManyRestarts
            - RemovePodsViolatingNodeTaints
            - RemovePodsViolatingNodeAffinity
            - RemovePodsViolatingInterPodAntiAffinity
serviceAccount: {create: true, name: , annotations: {}}
livenessProbe: {failureThreshold: 3}
service: {enabled: false}
serviceMonitor: {enabled: false}
"""
"""The values of kubernetes-sigs/descheduler 0.36, `charts/descheduler/values.yaml`, without what is empty there too."""


VERIFYING = """
deschedulerPolicy:
  profiles:
    - name: p
      pluginConfig:
        - {name: RemovePodsViolatingNodeTaints}
        - {name: PlacementVerification}
      plugins:
        deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
        preevictionfilter: {enabled: [PlacementVerification]}
"""


TAILORED = """
image: {repository: registry.example/descheduler, tag: v9, pullPolicy: Always}
imagePullSecrets: [{name: pull}]
resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}
schedule: "*/5 * * * *"
suspend: true
timeZone: Etc/UTC
startingDeadlineSeconds: 200
successfulJobsHistoryLimit: 0
failedJobsHistoryLimit: 1
ttlSecondsAfterFinished: 3600
activeDeadlineSeconds: 1000000
cronJobAnnotations: {note: cronjob}
cronJobLabels: {cronjob: "yes"}
jobAnnotations: {note: job}
jobLabels: {job: "yes"}
podAnnotations: {note: pod}
podLabels: {pod: "yes"}
commonLabels: {team: platform}
priorityClassName: high
nodeSelector: {pool: system}
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
tolerations: [{operator: Exists}]
dnsConfig: {nameservers: [10.0.0.1]}
initContainers: [{name: wait, image: wait:1}]
podSecurityContext: {fsGroup: 1000}
securityContext: {runAsUser: 1000}
serviceAccount: {annotations: {note: account}, automountServiceAccountToken: true}
automountServiceAccountToken: false
extraEnv: [{name: SSL_CERT_FILE, value: /ca/ca.crt}]
extraVolumes: [{name: ca, configMap: {name: ca}}]
extraVolumeMounts: [{name: ca, mountPath: /ca, readOnly: true}]
extraServiceAccountVolumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}]
extraServiceAccountVolumeMounts: [{name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]
"""


FOR_A_DEPLOYMENT = """
deschedulingInterval: 5m
replicas: 2
leaderElection: {enabled: true}
ports: [{containerPort: 10258, protocol: TCP}]
livenessProbe: {failureThreshold: 3}
service: {enabled: true}
serviceMonitor: {enabled: true}
podDisruptionBudget: {enabled: true}
deploymentAnnotations: {a: b}
"""


def moving(argument: str) -> str:
    """A document of koord-descheduler whose MigrationController has this argument."""
    return KOORDINATOR.replace("args: {}", f"args: {{{argument}}}")
