{{- define "descheduler.podSpec" -}}
{{- if not (include "descheduler.isDeployment" .) }}
restartPolicy: Never
{{- end }}
serviceAccountName: {{ include "descheduler.serviceAccountName" . | quote }}
automountServiceAccountToken: {{ eq (include "descheduler.mountsToken" .) "yes" }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- if not (kindIs "invalid" .Values.terminationGracePeriodSeconds) }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds | int64 }}
{{- end }}
{{- with include "descheduler.yaml" .Values.podSecurityContext }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- range $key := list "imagePullSecrets" "hostAliases" "topologySpreadConstraints" "tolerations" "initContainers" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "affinity" "dnsConfig" }}
{{- with include "descheduler.yaml" (get $.Values $key) }}
{{ $key }}:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
containers:
  - name: {{ .Chart.Name | quote }}
    image: {{ include "descheduler.image" . | quote }}
    imagePullPolicy: {{ default "IfNotPresent" (default dict .Values.image).pullPolicy }}
    {{- with .Values.command }}
    command:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    args:
      {{- include "descheduler.args" . | nindent 6 }}
    {{- $env := default list .Values.extraEnv }}
    {{- if include "descheduler.shards" . | int }}
    {{- $job := dict "fieldRef" (dict "fieldPath" "metadata.labels['batch.kubernetes.io/job-name']") }}
    {{- $env = append $env (dict "name" "DESCHEDULER_SHARD_TURN" "valueFrom" $job) }}
    {{- end }}
    {{- with $env }}
    env:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if include "descheduler.isDeployment" . }}
    ports:
      - name: http
        containerPort: 8080
    # Fails only while a run is more than a minute past its --deadline.
    livenessProbe:
      httpGet:
        path: /healthz
        port: http
      periodSeconds: 20
      failureThreshold: 3
    {{- end }}
    {{- with include "descheduler.yaml" .Values.resources }}
    resources:
      {{- . | nindent 6 }}
    {{- end }}
    {{- with include "descheduler.yaml" .Values.securityContext }}
    securityContext:
      {{- . | nindent 6 }}
    {{- end }}
    volumeMounts:
      - name: policy
        mountPath: /policy-dir
        readOnly: true
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- if not (include "descheduler.mountsToken" .) }}
      {{- with .Values.extraServiceAccountVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- end }}
volumes:
  - name: policy
    configMap:
      name: {{ include "descheduler.fullname" . | quote }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if not (include "descheduler.mountsToken" .) }}
  {{- with .Values.extraServiceAccountVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}
