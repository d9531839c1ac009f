{{- /* Values of kubernetes-sigs/descheduler's chart that mean something else here: its Deployment and its images. */ -}}

{{- /* Keys that concern its Deployment alone. */ -}}
{{- define "descheduler.ignoredKeys" -}}
deschedulingInterval replicas leaderElection ports livenessProbe service serviceMonitor podDisruptionBudget deploymentAnnotations
{{- end -}}

{{- /* Not empty when the values ask for a Deployment, which becomes a CronJob. */ -}}
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

{{- define "descheduler.interval" -}}
{{- default "5m" .Values.deschedulingInterval -}}
{{- end -}}

{{- /* Minutes from one run to the next: the interval of a Deployment, or the next longer one that cron can express. */ -}}
{{- define "descheduler.intervalMinutes" -}}
{{- $interval := include "descheduler.interval" . -}}
{{- $seconds := include "descheduler.seconds" (dict "key" "deschedulingInterval" "value" $interval) | int64 -}}
{{- if lt $seconds 1 -}}
{{- fail (printf "deschedulingInterval: %s is not above 0; for a single run, create a Job from the CronJob" $interval) -}}
{{- end -}}
{{- $minutes := 0 -}}
{{- range $each := list 1 2 3 4 5 6 10 12 15 20 30 60 120 180 240 360 480 720 1440 10080 -}}
{{- if and (not $minutes) (ge (mul $each 60) $seconds) -}}{{- $minutes = $each -}}{{- end -}}
{{- end -}}
{{- if not $minutes -}}
{{- fail (printf "deschedulingInterval: %s is longer than a week (168h); set kind: CronJob and schedule" $interval) -}}
{{- end -}}
{{- $minutes -}}
{{- end -}}

{{- /* When runs start: as a Deployment's interval says, else as `schedule`. */ -}}
{{- define "descheduler.schedule" -}}
{{- if not (include "descheduler.isDeployment" .) -}}
{{- default "*/15 * * * *" .Values.schedule -}}
{{- else -}}
{{- $minutes := include "descheduler.intervalMinutes" . | int -}}
{{- if eq $minutes 1 -}}* * * * *
{{- else if lt $minutes 60 -}}*/{{ $minutes }} * * * *
{{- else if eq $minutes 60 -}}0 * * * *
{{- else if lt $minutes 1440 -}}0 */{{ div $minutes 60 }} * * *
{{- else if eq $minutes 1440 -}}0 0 * * *
{{- else -}}0 0 * * 0
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* What becomes of a Deployment, in a sentence or two. */ -}}
{{- define "descheduler.deploymentNote" -}}
{{- $interval := include "descheduler.interval" . -}}
{{- $minutes := include "descheduler.intervalMinutes" . | int -}}
{{- $seconds := include "descheduler.seconds" (dict "key" "deschedulingInterval" "value" $interval) | int -}}
kind: Deployment becomes a CronJob with schedule {{ include "descheduler.schedule" . | quote }} (deschedulingInterval: {{ $interval }}); `schedule` is ignored.
{{- if ne (mul $minutes 60) $seconds }} A schedule cannot express {{ $interval }}, so runs start every {{ ternary "minute" (printf "%d minutes" $minutes) (eq $minutes 1) }}.{{ end -}}
{{- end -}}

{{- /* Not empty when the image is one of kubernetes-sigs/descheduler: from its registries, or a mirror of these. */ -}}
{{- define "descheduler.isUpstreamImage" -}}
{{- $repository := dig "repository" "" (default dict .Values.image) | toString -}}
{{- if regexMatch `(registry\.k8s\.io|k8s\.gcr\.io|k8s-artifacts-prod|k8s-staging-descheduler)(/descheduler)*$` $repository }}yes{{ end -}}
{{- end -}}
