{{- define "descheduler.podSpec" -}}
restartPolicy: Never
serviceAccountName: {{ include "descheduler.serviceAccountName" . }}
automountServiceAccountToken: {{ .Values.automountServiceAccountToken }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- if not (kindIs "invalid" .Values.terminationGracePeriodSeconds) }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds | int64 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "imagePullSecrets" "nodeSelector" "affinity" "topologySpreadConstraints" "tolerations" "dnsConfig" "initContainers" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
containers:
  - name: {{ .Chart.Name }}
    image: {{ include "descheduler.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    {{- with .Values.command }}
    command:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    args:
      {{- include "descheduler.args" . | nindent 6 }}
    {{- with .Values.extraEnv }}
    env:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .Values.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .Values.securityContext }}
    securityContext:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    volumeMounts:
      - name: policy
        mountPath: /policy-dir
        readOnly: true
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- if not .Values.automountServiceAccountToken }}
      {{- with .Values.extraServiceAccountVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- end }}
volumes:
  - name: policy
    configMap:
      name: {{ include "descheduler.fullname" . }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if not .Values.automountServiceAccountToken }}
  {{- with .Values.extraServiceAccountVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}
