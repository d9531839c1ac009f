{{- /* Made by `python -m docs.generate` from what plugins need; edit their specs instead. */ -}}

{{- /* The plugins that read what decides about placement, joined by |. */ -}}
{{- define "descheduler.verifiers" -}}
MigrationPlanner|PlacementVerification
{{- end -}}

{{- /* The other plugins that read a kind with default arguments, joined by |; empty for none. */ -}}
{{- define "descheduler.readersOf" -}}
{{- get (dict
  "DeviceTaintRule.resource.k8s.io" "RemovePodsViolatingDeviceTaints"
  "ElasticQuota.scheduling.sigs.k8s.io" "RevokePodsOverElasticQuota"
  "NodeMetrics.metrics.k8s.io" "LoadAware|Rescheduling"
  "NodeResourceTopology.topology.node.k8s.io" "RemovePodsViolatingNodeReservation"
  "PodGroup.scheduling.volcano.sh" "Rescheduling"
  "PodMetrics.metrics.k8s.io" "LoadAware|Rescheduling"
  "Reservation.scheduling.koordinator.sh" "RemovePodsViolatingNodeReservation"
  "ResourceClaim.resource.k8s.io" "RemovePodsViolatingDeviceTaints"
  "ResourceSlice.resource.k8s.io" "RemovePodsViolatingDeviceTaints"
) . -}}
{{- end -}}
