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
{{- $fallback := ternary (include "descheduler.fullname" .) "default" (eq (include "descheduler.createsAccount" .) "yes") -}}
{{- default $fallback (default dict .Values.serviceAccount).name -}}
{{- end -}}

{{- define "descheduler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "descheduler.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "descheduler.labels" -}}
{{ include "descheduler.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with include "descheduler.yaml" .Values.commonLabels }}
{{ . }}
{{- end }}
{{- end -}}

{{- define "descheduler.image" -}}
{{- $image := ternary dict (default dict .Values.image) (eq (include "descheduler.isUpstreamImage" .) "yes") -}}
{{- $repository := default "descheduler" $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default (printf "v%s" .Chart.AppVersion) $image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* Not empty unless the value `key` of the mapping `values` is false; a missing mapping has the chart's defaults. */ -}}
{{- define "descheduler.isOn" -}}
{{- if ne (get (default dict .values) .key | toString) "false" }}yes{{ end -}}
{{- end -}}

{{- define "descheduler.createsRoles" -}}
{{- include "descheduler.isOn" (dict "values" .Values.rbac "key" "create") -}}
{{- end -}}

{{- define "descheduler.createsAccount" -}}
{{- include "descheduler.isOn" (dict "values" .Values.serviceAccount "key" "create") -}}
{{- end -}}

{{- define "descheduler.mountsToken" -}}
{{- include "descheduler.isOn" (dict "values" .Values "key" "automountServiceAccountToken") -}}
{{- end -}}

{{- /* Takes keys that are null out of a mapping and the mappings in it. */ -}}
{{- define "descheduler.dropNulls" -}}
{{- $mapping := . -}}
{{- range $key, $value := $mapping -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $mapping $key -}}
{{- else if kindIs "map" $value -}}
{{- include "descheduler.dropNulls" $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A mapping as YAML without what is null; empty when nothing is left. */ -}}
{{- define "descheduler.yaml" -}}
{{- if kindIs "map" . -}}
{{- $mapping := deepCopy . -}}
{{- include "descheduler.dropNulls" $mapping -}}
{{- with $mapping -}}{{ toYaml . }}{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Names of the profiles in which PlacementVerification is off, with commas between them. */ -}}
{{- define "descheduler.unverifiedProfiles" -}}
{{- $names := list -}}
{{- $policy := include "descheduler.policyJson" . | fromJson -}}
{{- range $profile := $policy.profiles -}}
{{- $plugins := default dict $profile.plugins -}}
{{- $enabled := regexMatch "PlacementVerification" (toJson (default dict (get $plugins "preevictionfilter")).enabled) -}}
{{- $disabled := regexMatch "PlacementVerification" (toJson (default dict (get $plugins "filter")).disabled) -}}
{{- if not (ternary (not $disabled) $enabled (eq $policy.kind "DeschedulerConfiguration")) -}}
{{- $names = append $names $profile.name -}}
{{- end -}}
{{- end -}}
{{- join ", " $names -}}
{{- end -}}

{{- /* A limit of the policy as it is in force: its number, or that there is none. */ -}}
{{- define "descheduler.limit" -}}
{{- $limit := get (include "descheduler.policyJson" .root | fromJson) .key -}}
{{- if has $limit (list nil "") }}no limit{{ else if kindIs "string" $limit }}{{ tpl $limit .root }}{{ else }}{{ toJson $limit }}{{ end -}}
{{- end -}}

{{- /* Not empty when dryRun or cmdOptions ask for a dry run, which needs no right to evict. */ -}}
{{- define "descheduler.isDry" -}}
{{- if .Values.dryRun }}dry{{ end -}}
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
{{- $seconds := include "descheduler.seconds" (dict "key" "cmdOptions.deadline" "value" $deadline) | int64 -}}
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

{{- /* How many shards run at once, each in a pod of an Indexed Job; 0 where the cluster is not divided. */ -}}
{{- define "descheduler.shards" -}}
{{- $shards := default 1 .Values.shards | int -}}
{{- if and (gt $shards 1) (include "descheduler.isDeployment" .) -}}
{{- fail "shards: a Deployment cannot divide the cluster; use kind: CronJob" -}}
{{- end -}}
{{- if and .Values.shardBy (le $shards 1) -}}
{{- fail "shardBy: needs shards above 1" -}}
{{- end -}}
{{- if gt $shards 1 }}{{ $shards }}{{ else }}0{{ end -}}
{{- end -}}

{{- /* The names that end with this, of the Lease or of what goes with it: one, or one for each shard. */ -}}
{{- define "descheduler.leaseNames" -}}
{{- $name := include "descheduler.leaseName" .root -}}
{{- $names := list -}}
{{- range $index := until (include "descheduler.shards" .root | int) -}}
{{- $names = append $names (printf "%s-shard-%d%s" $name $index $.suffix) -}}
{{- end -}}
{{- join ", " (default (list (printf "%s%s" $name .suffix)) $names) -}}
{{- end -}}

{{- define "descheduler.args" -}}
- {{ ternary "loop" "run" (eq (include "descheduler.isDeployment" .) "yes") }}
- --policy-config-file=/policy-dir/policy.yaml
{{- if include "descheduler.isDeployment" . }}
- {{ printf "--interval=%s" (include "descheduler.interval" .) | quote }}
{{- end }}
{{- $shards := include "descheduler.shards" . | int }}
{{- if $shards }}
- --shards={{ $shards }}
{{- with .Values.shardBy }}
- {{ printf "--shard-by=%s" . | quote }}
{{- end }}
{{- end }}
- {{ printf "--lease-name=%s" (include "descheduler.leaseName" .) | quote }}
- {{ printf "--lease-namespace=%s" (include "descheduler.leaseNamespace" .) | quote }}
{{- with include "descheduler.deadline" . }}
- {{ printf "--deadline=%s" . | quote }}
{{- end }}
{{- $options := omit (default dict .Values.cmdOptions) "deadline" "lease-name" "lease-namespace" "leader-elect-resource-name" "leader-elect-resource-namespace" }}
{{- if .Values.dryRun }}
{{- $options = set (omit $options "dry_run") "dry-run" nil }}
{{- end }}
{{- with (default dict .Values.pushgateway).url }}
{{- $options = set $options "metrics-push-url" . }}
{{- end }}
{{- range $key, $value := $options }}
{{- if not (regexMatch `^[A-Za-z][A-Za-z0-9_-]*$` $key) }}
{{- fail (printf "cmdOptions: %s is not the name of a flag; write for example v or dry-run, without dashes before it" $key) }}
{{- end }}
{{- if kindIs "invalid" $value }}
- {{ printf "--%s" $key | quote }}
{{- else if kindIs "string" $value }}
- {{ printf "--%s=%s" $key $value | quote }}
{{- else }}
- {{ printf "--%s=%s" $key (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* What the read-only role depends on. Without a policy in the values everything may be needed. */ -}}
{{- define "descheduler.readsWorkloads" -}}
{{- if or (not (include "descheduler.policyJson" .)) (eq (include "descheduler.policyKind" .) "DeschedulerConfiguration") }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when pods are moved by jobs, which only profiles of koord-descheduler's documents do. */ -}}
{{- define "descheduler.usesJobs" -}}
{{- if and (include "descheduler.readsWorkloads" .) (not (include "descheduler.isDry" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when the policy names placeholders; without a policy in the values they are not taken for granted. */ -}}
{{- define "descheduler.usesPlaceholders" -}}
{{- if and (include "descheduler.usesJobs" .) (regexMatch `"reservationProvider":"placeholder"` (include "descheduler.policyJson" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when workloads with one replica are scaled up while their pod moves. */ -}}
{{- define "descheduler.surges" -}}
{{- if and (include "descheduler.usesJobs" .) (regexMatch `"singleReplicas":"Surge"` (include "descheduler.policyJson" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when nodes that are to be drained are cordoned. */ -}}
{{- define "descheduler.cordons" -}}
{{- if and (not (include "descheduler.isDry" .)) (regexMatch `"cordon":true` (include "descheduler.policyJson" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when evictions depend on where their pods land again. */ -}}
{{- define "descheduler.verifiesPlacement" -}}
{{- if or (include "descheduler.readsWorkloads" .) (regexMatch (printf `"(%s)"` (include "descheduler.verifiers" .)) (include "descheduler.policyJson" .)) }}yes{{ end -}}
{{- end -}}

{{- /* Not empty when a plugin of the policy reads one of these kinds by itself; asked with (list $ "Kind.group" ...). */ -}}
{{- define "descheduler.pluginReads" -}}
{{- $policy := include "descheduler.policyJson" (first .) -}}
{{- range rest . -}}
{{- with include "descheduler.readersOf" . -}}
{{- if regexMatch (printf `"(%s)"` .) $policy }}yes{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Not empty when kinds that decide about landings are read, for these or by a plugin itself; asked as above. */ -}}
{{- define "descheduler.reads" -}}
{{- if or (include "descheduler.verifiesPlacement" (first .)) (include "descheduler.isDry" (first .)) (include "descheduler.pluginReads" .) }}yes{{ end -}}
{{- end -}}

{{- define "descheduler.readsMetrics" -}}
{{- if or (not (include "descheduler.policyJson" .)) (regexMatch "KubernetesMetrics|metricsServer" (include "descheduler.policyJson" .)) (include "descheduler.pluginReads" (list . "NodeMetrics.metrics.k8s.io" "PodMetrics.metrics.k8s.io")) }}yes{{ end -}}
{{- end -}}

{{- /* Binding's subject: the release's ServiceAccount. */ -}}
{{- define "descheduler.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "descheduler.serviceAccountName" . | quote }}
    namespace: {{ include "descheduler.namespace" . | quote }}
{{- end -}}
