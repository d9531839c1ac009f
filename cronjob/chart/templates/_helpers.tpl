{{- define "descheduler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* A CronJob's name may have 52 characters at most: its controller adds eleven to name a Job. */ -}}
{{- define "descheduler.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- $name = .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- $name = .Release.Name -}}
{{- else -}}
{{- $name = printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "descheduler.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "descheduler.serviceAccountName" -}}
{{- default (ternary (include "descheduler.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "descheduler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "descheduler.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "descheduler.labels" -}}
{{ include "descheduler.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "descheduler.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The policy without the default for a DeschedulerPolicy that a DeschedulerConfiguration does not know. */ -}}
{{- define "descheduler.policy" -}}
{{- $policy := default dict .Values.deschedulerPolicy -}}
{{- if eq .Values.deschedulerPolicyKind "DeschedulerConfiguration" -}}
{{- $policy = omit $policy "evictionFailureEventNotification" -}}
{{- end -}}
apiVersion: {{ .Values.deschedulerPolicyAPIVersion | quote }}
kind: {{ .Values.deschedulerPolicyKind | quote }}
{{ tpl (toYaml $policy) . }}
{{- end -}}

{{- /* Names of the profiles in which PlacementVerification is off, with commas between them. */ -}}
{{- define "descheduler.unverifiedProfiles" -}}
{{- $names := list -}}
{{- range $profile := (default dict .Values.deschedulerPolicy).profiles -}}
{{- $plugins := default dict $profile.plugins -}}
{{- $enabled := regexMatch "PlacementVerification" (toJson (default dict (get $plugins "preevictionfilter")).enabled) -}}
{{- $disabled := regexMatch "PlacementVerification" (toJson (default dict (get $plugins "filter")).disabled) -}}
{{- if not (ternary (not $disabled) $enabled (eq $.Values.deschedulerPolicyKind "DeschedulerConfiguration")) -}}
{{- $names = append $names $profile.name -}}
{{- end -}}
{{- end -}}
{{- join ", " $names -}}
{{- end -}}

{{- /* A limit of the policy as it is in force: its number, or that there is none. */ -}}
{{- define "descheduler.limit" -}}
{{- $limit := get (default dict .root.Values.deschedulerPolicy) .key -}}
{{- if has $limit (list nil "") }}no limit{{ else if kindIs "string" $limit }}{{ tpl $limit .root }}{{ else }}{{ toJson $limit }}{{ end -}}
{{- end -}}

{{- /* Not empty when cmdOptions ask for a dry run, which needs no right to evict. */ -}}
{{- define "descheduler.isDry" -}}
{{- range $key, $value := default dict .Values.cmdOptions -}}
{{- if eq ($key | replace "_" "-") "dry-run" -}}
{{- if or (kindIs "invalid" $value) (has ($value | toString | lower) (list "1" "t" "true")) }}dry{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* How long evictions may start: what cmdOptions say, else half of the Job's time. Empty when neither is set. */ -}}
{{- define "descheduler.deadline" -}}
{{- $jobSeconds := .Values.activeDeadlineSeconds -}}
{{- $deadline := get (default dict .Values.cmdOptions) "deadline" -}}
{{- if $deadline -}}
{{- if $jobSeconds -}}
{{- $start := now -}}
{{- $end := mustDateModify $deadline $start -}}
{{- $seconds := sub ($end | unixEpoch | int64) ($start | unixEpoch | int64) -}}
{{- if ge $seconds (int64 $jobSeconds) -}}
{{- fail (printf "cmdOptions.deadline is %s, which is not below activeDeadlineSeconds (%d); the Job would be killed while it evicts" $deadline (int64 $jobSeconds)) -}}
{{- end -}}
{{- end -}}
{{- $deadline -}}
{{- else if $jobSeconds -}}
{{- printf "%ds" (div (int64 $jobSeconds) 2) -}}
{{- end -}}
{{- end -}}

{{- /* Where the Lease is: what cmdOptions say, under either name of the flag, else named as the release, next to it. */ -}}
{{- define "descheduler.leaseName" -}}
{{- coalesce (get (default dict .Values.cmdOptions) "lease-name") (get (default dict .Values.cmdOptions) "leader-elect-resource-name") (include "descheduler.fullname" .) -}}
{{- end -}}

{{- define "descheduler.leaseNamespace" -}}
{{- coalesce (get (default dict .Values.cmdOptions) "lease-namespace") (get (default dict .Values.cmdOptions) "leader-elect-resource-namespace") (include "descheduler.namespace" .) -}}
{{- end -}}

{{- define "descheduler.args" -}}
- run
- --policy-config-file=/policy-dir/policy.yaml
- {{ printf "--lease-name=%s" (include "descheduler.leaseName" .) | quote }}
- {{ printf "--lease-namespace=%s" (include "descheduler.leaseNamespace" .) | quote }}
{{- with include "descheduler.deadline" . }}
- {{ printf "--deadline=%s" . | quote }}
{{- end }}
{{- range $key, $value := omit (default dict .Values.cmdOptions) "deadline" "lease-name" "lease-namespace" "leader-elect-resource-name" "leader-elect-resource-namespace" }}
{{- if kindIs "invalid" $value }}
- {{ printf "--%s" $key | quote }}
{{- else if kindIs "string" $value }}
- {{ printf "--%s=%s" $key $value | quote }}
{{- else }}
- {{ printf "--%s=%s" $key (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* What the read-only role depends on. Without a policy in the values everything may be needed. */ -}}
{{- define "descheduler.readsWorkloads" -}}
{{- if or (not .Values.deschedulerPolicy) (eq .Values.deschedulerPolicyKind "DeschedulerConfiguration") }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when pods are moved by jobs, which only profiles of koord-descheduler's documents do. */ -}}
{{- define "descheduler.usesJobs" -}}
{{- if and (include "descheduler.readsWorkloads" .) (not (include "descheduler.isDry" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when the policy names placeholders; without a policy in the values they are not taken for granted. */ -}}
{{- define "descheduler.usesPlaceholders" -}}
{{- if and (include "descheduler.usesJobs" .) (regexMatch `"reservationProvider":"placeholder"` (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when workloads with one replica are scaled up while their pod moves. */ -}}
{{- define "descheduler.surges" -}}
{{- if and (include "descheduler.usesJobs" .) (regexMatch `"singleReplicas":"Surge"` (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when nodes that are to be drained are cordoned. */ -}}
{{- define "descheduler.cordons" -}}
{{- if and (not (include "descheduler.isDry" .)) (regexMatch `"cordon":true` (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when evictions depend on where their pods land again. */ -}}
{{- define "descheduler.verifiesPlacement" -}}
{{- if or (include "descheduler.readsWorkloads" .) (regexMatch "PlacementVerification|MigrationPlanner" (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- define "descheduler.readsMetrics" -}}
{{- if or (not .Values.deschedulerPolicy) (regexMatch "KubernetesMetrics|metricsServer" (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when what Koordinator has measured decides: which nodes are relieved, and where pods land. */ -}}
{{- define "descheduler.readsNodeMetrics" -}}
{{- if or (include "descheduler.verifiesPlacement" .) (regexMatch `LowNodeLoad|"source":"NodeMetric"` (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when the CPUs of nodes decide, which they do about landings as well. */ -}}
{{- define "descheduler.readsNodeTopologies" -}}
{{- if or (include "descheduler.verifiesPlacement" .) (include "descheduler.isDry" .) (regexMatch "RemovePodsViolatingNodeReservation" (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when elastic quotas of Koordinator decide, which they do about landings as well. */ -}}
{{- define "descheduler.readsQuotas" -}}
{{- if or (include "descheduler.verifiesPlacement" .) (include "descheduler.isDry" .) (regexMatch "RevokePodsOverElasticQuota" (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when devices of resource claims decide, which they do about landings as well. */ -}}
{{- define "descheduler.readsDevices" -}}
{{- if or (include "descheduler.verifiesPlacement" .) (include "descheduler.isDry" .) (regexMatch "RemovePodsViolatingDeviceTaints" (toJson .Values.deschedulerPolicy)) }}yes{{ end -}}
{{- end -}}

{{- /* Binding's subject: the release's ServiceAccount. */ -}}
{{- define "descheduler.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "descheduler.serviceAccountName" . }}
    namespace: {{ include "descheduler.namespace" . }}
{{- end -}}
