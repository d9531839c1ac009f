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

{{- /* Seconds from one run to the next, of a schedule those of the longest pause that it can have. */ -}}
{{- define "descheduler.period" -}}
{{- $schedule := include "descheduler.schedule" . | trim -}}
{{- $names := dict "@hourly" 3600 "@daily" 86400 "@midnight" 86400 "@weekly" 604800 "@monthly" 2678400 -}}
{{- $fields := regexSplit `\s+` $schedule -1 -}}
{{- if include "descheduler.isDeployment" . -}}
{{- include "descheduler.seconds" (dict "key" "deschedulingInterval" "value" (include "descheduler.interval" .)) -}}
{{- else if hasKey $names $schedule -}}
{{- get $names $schedule -}}
{{- else if or (ne (len $fields) 5) (ne (index $fields 3) "*") -}}
31622400
{{- else if not (has (index $fields 2) (list "*" "?")) -}}
2678400
{{- else if not (has (index $fields 4) (list "*" "?")) -}}
604800
{{- else if regexMatch `^\*/[0-9]+$` (index $fields 1) -}}
{{- mul 3600 (trimPrefix "*/" (index $fields 1) | int64) -}}
{{- else if ne (index $fields 1) "*" -}}
86400
{{- else if regexMatch `^\*/[0-9]+$` (index $fields 0) -}}
{{- mul 60 (trimPrefix "*/" (index $fields 0) | int64) -}}
{{- else -}}
3600
{{- end -}}
{{- end -}}

{{- /* Seconds without a successful run before an alert fires. */ -}}
{{- define "descheduler.noSuccessSeconds" -}}
{{- with dig "noSuccessFor" "" (default dict .Values.prometheusRule) -}}
{{- include "descheduler.seconds" (dict "key" "prometheusRule.noSuccessFor" "value" .) -}}
{{- else -}}
{{- max 3600 (mul 2 (include "descheduler.period" . | int64)) -}}
{{- end -}}
{{- end -}}

{{- /* Not empty when the image is one of kubernetes-sigs/descheduler: from its registries, or a mirror of these. */ -}}
{{- define "descheduler.isUpstreamImage" -}}
{{- $repository := dig "repository" "" (default dict .Values.image) | toString -}}
{{- if regexMatch `(registry\.k8s\.io|k8s\.gcr\.io|k8s-artifacts-prod|k8s-staging-descheduler)(/descheduler)*$` $repository }}yes{{ end -}}
{{- end -}}
