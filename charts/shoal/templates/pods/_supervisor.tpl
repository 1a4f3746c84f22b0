{{/* The supervisor's pod. */}}
{{- define "shoal.supervisorPods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "supervisor") | nindent 4 }}
  annotations:
    {{- include "shoal.settingsChecksum" . | nindent 4 }}
spec:
  serviceAccountName: {{ include "shoal.fullname" . }}-gateway
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  initContainers:
    {{- include "shoal.trustContainer" (list . (include "shoal.ownImage" (list . .Values.image.worker))) | nindent 4 }}
    {{- include "shoal.waitForSchema" . | nindent 4 }}
  containers:
    - name: supervisor
      # The worker's image: a Ray client must be of the same Ray and the same Python as the cluster.
      image: {{ include "shoal.ownImage" (list . .Values.image.worker) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [supervise, --health-port, "8701"]
      ports:
        - {name: health, containerPort: 8701}
      envFrom:
        - configMapRef:
            name: {{ include "shoal.fullname" . }}-settings
      env:
        {{- include "shoal.databaseEnv" . | nindent 8 }}
        {{- include "shoal.modelEnv" . | nindent 8 }}
        {{- include "shoal.helpEnv" . | nindent 8 }}
        - name: RAY_AUTH_MODE
          value: token
        - name: RAY_AUTH_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ include "shoal.raySecret" . | quote }}
              key: auth_token
        {{- include "shoal.s3Env" . | nindent 8 }}
        {{- include "shoal.trustEnv" . | nindent 8 }}
      startupProbe:
        httpGet: {path: /healthz, port: health}
        periodSeconds: 3
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /healthz, port: health}
        periodSeconds: 15
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: health}
        periodSeconds: 10
        timeoutSeconds: 8
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.supervisor.resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.scratchMounts" . | nindent 8 }}
        {{- include "shoal.trustMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.scratchVolumes" . | nindent 4 }}
    {{- include "shoal.trustVolumes" . | nindent 4 }}
  {{- include "shoal.placement" (list . .Values.supervisor) | nindent 2 }}
{{- end -}}
