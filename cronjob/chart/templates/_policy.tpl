{{- /* The policy in force: a profile of the chart, else deschedulerPolicy. */ -}}

{{- /* The text of the profile that is named; empty without a name. */ -}}
{{- define "descheduler.profileText" -}}
{{- if .Values.profile -}}
{{- $text := .Files.Get (printf "profiles/%s.yaml" .Values.profile) -}}
{{- if not $text -}}
{{- $names := list -}}
{{- range $path, $_ := .Files.Glob "profiles/*.yaml" -}}
{{- $names = append $names (base $path | trimSuffix ".yaml") -}}
{{- end -}}
{{- fail (printf "profile: %s is not a profile of this chart; choose from %s" .Values.profile (sortAlpha $names | join ", ")) -}}
{{- end -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{- /* The policy as JSON, with apiVersion and kind; empty without a policy. */ -}}
{{- define "descheduler.policyJson" -}}
{{- with include "descheduler.profileText" . -}}
{{- fromYaml . | toJson -}}
{{- else -}}
{{- if .Values.deschedulerPolicy -}}
{{- $policy := merge (deepCopy (pick .Values.deschedulerPolicy "apiVersion" "kind")) (dict "apiVersion" (default "descheduler/v1alpha2" .Values.deschedulerPolicyAPIVersion) "kind" (default "DeschedulerPolicy" .Values.deschedulerPolicyKind)) -}}
{{- if ne $policy.apiVersion "descheduler/v1alpha2" -}}
{{- $key := ternary "deschedulerPolicy.apiVersion" "deschedulerPolicyAPIVersion" (hasKey .Values.deschedulerPolicy "apiVersion") -}}
{{- fail (printf "%s: %v is not supported; convert the policy to descheduler/v1alpha2 with 'descheduler convert'" $key $policy.apiVersion) -}}
{{- end -}}
{{- if hasKey .Values.deschedulerPolicy "strategies" -}}
{{- fail "deschedulerPolicy.strategies is a field of descheduler/v1alpha1; convert the policy to descheduler/v1alpha2 with 'descheduler convert'" -}}
{{- end -}}
{{- $profiles := .Values.deschedulerPolicy.profiles -}}
{{- if not (or (kindIs "slice" $profiles) (kindIs "invalid" $profiles)) -}}
{{- fail "deschedulerPolicy.profiles is not a list" -}}
{{- end -}}
{{- $policy = merge $policy .Values.deschedulerPolicy -}}
{{- /* A DeschedulerConfiguration does not know this default for a DeschedulerPolicy. */ -}}
{{- if eq $policy.kind "DeschedulerConfiguration" -}}
{{- $policy = omit $policy "evictionFailureEventNotification" -}}
{{- end -}}
{{- toJson $policy -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "descheduler.policyKind" -}}
{{- dig "kind" "" (include "descheduler.policyJson" . | fromJson) -}}
{{- end -}}

{{- /* The policy as the ConfigMap has it: strings in deschedulerPolicy can hold template expressions. */ -}}
{{- define "descheduler.policy" -}}
{{- with include "descheduler.profileText" . -}}
{{- . -}}
{{- else -}}
{{- $policy := include "descheduler.policyJson" . | fromJson -}}
apiVersion: {{ $policy.apiVersion | quote }}
kind: {{ $policy.kind | quote }}
{{ tpl (omit $policy "apiVersion" "kind" | toYaml) . }}
{{- end -}}
{{- end -}}
