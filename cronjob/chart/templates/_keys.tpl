{{- /* Every key that the chart knows, at the top ("") and in mappings; the same as in values.schema.json. */ -}}
{{- define "descheduler.knownKeys" -}}
{
  "": [
    "activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "cmdOptions", "command", "commonLabels",
    "cronJobAnnotations", "cronJobApiVersion", "cronJobLabels", "deploymentAnnotations", "deschedulerPolicy",
    "deschedulerPolicyAPIVersion", "deschedulerPolicyKind", "deschedulingInterval", "dnsConfig", "dryRun", "enabled",
    "extraArgs", "extraEnv", "extraObjects", "extraServiceAccountVolumeMounts", "extraServiceAccountVolumes",
    "extraVolumeMounts", "extraVolumes", "failedJobsHistoryLimit", "fullnameOverride", "global", "grafanaDashboard",
    "hostAliases", "image", "imagePullSecrets", "initContainers", "jobAnnotations", "jobLabels", "kind",
    "leaderElection", "livenessProbe", "nameOverride", "namespaceOverride", "networkPolicy", "nodeSelector",
    "placeholders", "podAnnotations", "podDisruptionBudget", "podLabels", "podMonitor", "podSecurityContext", "ports",
    "priorityClassName", "profile", "prometheusRule", "pushgateway", "rbac", "replicas", "resources", "schedule",
    "securityContext", "service", "serviceAccount", "serviceMonitor", "shardBy", "shards", "startingDeadlineSeconds",
    "successfulJobsHistoryLimit", "suspend", "terminationGracePeriodSeconds", "timeZone", "tolerations",
    "topologySpreadConstraints", "ttlSecondsAfterFinished"
  ],
  "grafanaDashboard": ["annotations", "create", "labels", "namespace"],
  "image": ["digest", "pullPolicy", "repository", "tag"],
  "networkPolicy": ["apiServerCIDRs", "apiServerPorts", "create", "extraEgress"],
  "placeholders": ["createPriorityClass"],
  "podMonitor": ["create", "interval", "labels", "namespace"],
  "prometheusRule": ["create", "labels", "namespace", "noSuccessFor"],
  "pushgateway": ["url"],
  "rbac": ["create"],
  "resources": ["claims", "limits", "requests"],
  "serviceAccount": ["annotations", "automountServiceAccountToken", "create", "name"]
}
{{- end -}}

{{- /* Keys that the chart does not know, with commas between them. Fails where one is a known key, misspelt. */ -}}
{{- define "descheduler.unknownKeys" -}}
{{- $unknown := list -}}
{{- range $parent, $known := include "descheduler.knownKeys" . | fromJson -}}
{{- $values := ternary (get $.Values $parent) $.Values (ne $parent "") -}}
{{- range $key, $value := ternary $values dict (kindIs "map" $values) -}}
{{- if not (or (has $key $known) (kindIs "invalid" $value)) -}}
{{- $path := printf "%s.%s" $parent $key | trimPrefix "." -}}
{{- with include "descheduler.nearKey" (dict "key" $key "known" $known) -}}
{{- fail (printf "%s is not a value of this chart; did you mean %s?" $path .) -}}
{{- end -}}
{{- with include "descheduler.nestedPolicy" (dict "path" $path "value" $value) -}}
{{- fail (printf "%s is not a value of this chart; move deschedulerPolicy and the keys beside it to the top" .) -}}
{{- end -}}
{{- $unknown = append $unknown $path -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- join ", " $unknown -}}
{{- end -}}

{{- /* Where a mapping has a policy in it, as the values of a parent chart have: they would run with another policy. */ -}}
{{- define "descheduler.nestedPolicy" -}}
{{- $found := "" -}}
{{- if kindIs "map" .value -}}
{{- if hasKey .value "deschedulerPolicy" -}}
{{- $found = printf "%s.deschedulerPolicy" .path -}}
{{- else -}}
{{- range $key, $value := .value -}}
{{- $found = default $found (include "descheduler.nestedPolicy" (dict "path" (printf "%s.%s" $.path $key) "value" $value)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{- /* The known key that `key` is but for capitals, dashes, or one place of 1 to 3 letters; longer keys for more. */ -}}
{{- define "descheduler.nearKey" -}}
{{- $key := regexReplaceAll "[-_]" .key "" | lower -}}
{{- $known := .known -}}
{{- $found := "" -}}
{{- range $width := until 4 -}}
{{- range $name := $known -}}
{{- $wanted := lower $name -}}
{{- if and (not $found) (ge (len $wanted) (mul 5 $width | add -4 | int)) -}}
{{- range $start := until (len $key | add1 | int) -}}
{{- range $left := until (add1 $width | int) -}}
{{- $end := min (len $key) (add $start $left) | int -}}
{{- $added := sub (len $wanted | add $end) (len $key | add $start) -}}
{{- if and (ge $added 0) (le $added $width) (hasPrefix (trunc $start $key) $wanted) (hasSuffix (trimPrefix (trunc $end $key) $key) $wanted) -}}
{{- $found = $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}
