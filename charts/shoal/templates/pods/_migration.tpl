{{/* The pod that migrates the schema. */}}
{{- define "shoal.migrationPods" -}}
{{- $secret := .Values.migration.existingSecret | default (include "shoal.databaseSecret" .) -}}
{{- $key := empty .Values.migration.existingSecret | ternary (include "shoal.databaseKey" .) .Values.migration.existingSecretKey -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "migration") | nindent 4 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "shoal.fullname" . }}-gateway
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  {{- include "shoal.trustInit" (list . (include "shoal.ownImage" (list . .Values.image.gateway))) | nindent 2 }}
  containers:
    - name: migrate
      image: {{ include "shoal.ownImage" (list . .Values.image.gateway) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [migrate]
      env:
        - {name: SHOAL_DATA_DIR, value: /var/lib/shoal}
        - {name: SHOAL_LOG_FORMAT, value: json}
        - name: SHOAL_STORE_URL
          valueFrom:
            secretKeyRef: {name: {{ $secret | quote }}, key: {{ $key | quote }}}
        {{- include "shoal.trustEnv" . | nindent 8 }}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.migration.resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.scratchMounts" . | nindent 8 }}
        {{- include "shoal.trustMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.scratchVolumes" . | nindent 4 }}
    {{- include "shoal.trustVolumes" . | nindent 4 }}
{{- end -}}
