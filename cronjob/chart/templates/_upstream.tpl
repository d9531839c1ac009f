{{- /* Values of kubernetes-sigs/descheduler's chart that mean something else here: its Deployment and its images. */ -}}

{{- /* Keys without effect: those of its Deployment's server, and those that only a Deployment has. */ -}}
{{- define "descheduler.ignoredKeys" -}}
leaderElection ports livenessProbe service serviceMonitor podDisruptionBudget
{{- if not (include "descheduler.isDeployment" .) }} deschedulingInterval replicas deploymentAnnotations podMonitor{{ end -}}
{{- end -}}

{{- /* Not empty when one process runs again and again, in a Deployment. */ -}}
{{- define "descheduler.isDeployment" -}}
{{- if eq (toString .Values.kind) "Deployment" }}yes{{ end -}}
{{- end -}}

{{- /* Seconds of a duration; `key` is named where `value` is none. */ -}}
{{- define "descheduler.seconds" -}}
{{- if not (regexMatch `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$` (toString .value)) -}}
{{- fail (printf "%s: %v is not a duration such as 5m" .key .value) -}}
{{- end -}}
{{- $start := now -}}
{{- sub (mustDateModify .value $start | unixEpoch | int64) ($start | unixEpoch | int64) -}}
{{- end -}}

{{- /* Time from one run of a Deployment to the next. */ -}}
{{- define "descheduler.interval" -}}
{{- $interval := default "5m" .Values.deschedulingInterval -}}
{{- if lt (include "descheduler.seconds" (dict "key" "deschedulingInterval" "value" $interval) | int64) 1 -}}
{{- fail (printf "deschedulingInterval: %s is not above 0; for a single run, create a Job from the CronJob (kind: CronJob)" $interval) -}}
{{- end -}}
{{- $interval -}}
{{- end -}}

{{- define "descheduler.schedule" -}}
{{- default "*/15 * * * *" .Values.schedule -}}
{{- end -}}

{{- /* Not empty when the image is one of kubernetes-sigs/descheduler: from its registries, or a mirror of these. */ -}}
{{- define "descheduler.isUpstreamImage" -}}
{{- $repository := dig "repository" "" (default dict .Values.image) | toString -}}
{{- if regexMatch `(registry\.k8s\.io|k8s\.gcr\.io|k8s-artifacts-prod|k8s-staging-descheduler)(/descheduler)*$` $repository }}yes{{ end -}}
{{- end -}}
