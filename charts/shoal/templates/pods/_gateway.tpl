{{/* The gateway's pods. */}}
{{- define "shoal.gatewayPods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "gateway") | nindent 4 }}
  annotations:
    {{- merge (include "shoal.settingsChecksum" . | fromYaml) .Values.gateway.podAnnotations | toYaml | nindent 4 }}
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
    {{- include "shoal.trustContainer" (list . (include "shoal.ownImage" (list . .Values.image.gateway))) | nindent 4 }}
    {{- include "shoal.waitForSchema" . | nindent 4 }}
  containers:
    - name: gateway
      image: {{ include "shoal.ownImage" (list . .Values.image.gateway) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [gateway]
      ports:
        - {name: http, containerPort: 8700}
        - {name: metrics, containerPort: 8702}
      envFrom:
        - configMapRef:
            name: {{ include "shoal.fullname" . }}-settings
      env:
        {{- include "shoal.databaseEnv" . | nindent 8 }}
        - name: SHOAL_COOKIE_SECRET
          valueFrom:
            secretKeyRef:
              name: {{ include "shoal.cookieSecret" . | quote }}
              key: {{ empty .Values.gateway.existingCookieSecret | ternary "cookie-secret" .Values.gateway.existingCookieSecretKey | quote }}
        {{- with .Values.gateway.existingWebhookSecret }}
        - name: SHOAL_WEBHOOK_SECRET
          valueFrom:
            secretKeyRef: {name: {{ . | quote }}, key: {{ $.Values.gateway.existingWebhookSecretKey | quote }}}
        {{- end }}
        {{- with .Values.gateway.existingOidcSecret }}
        - name: SHOAL_OIDC_CLIENT_SECRET
          valueFrom:
            secretKeyRef: {name: {{ . | quote }}, key: {{ $.Values.gateway.existingOidcSecretKey | quote }}}
        {{- end }}
        {{- with .Values.gateway.existingSmtpSecret }}
        - name: SHOAL_SMTP_URL
          valueFrom:
            secretKeyRef: {name: {{ . | quote }}, key: {{ $.Values.gateway.existingSmtpSecretKey | quote }}}
        {{- end }}
        {{- include "shoal.helpEnv" . | nindent 8 }}
        {{- if and .Values.help.enabled (not .Values.settings.live_url) }}
        # A worker that shows a session to people calls the very gateway that they look at, not the Service.
        - name: POD_IP
          valueFrom:
            fieldRef: {fieldPath: status.podIP}
        - {name: SHOAL_LIVE_URL, value: "http://$(POD_IP):8700"}
        {{- end }}
        {{- include "shoal.s3Env" . | nindent 8 }}
        {{- include "shoal.trustEnv" . | nindent 8 }}
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 10
        timeoutSeconds: 8
      lifecycle:
        preStop:
          # Until every proxy has heard that this pod ends, requests still arrive.
          exec: {command: [/bin/sleep, "5"]}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.gateway.resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.scratchMounts" . | nindent 8 }}
        {{- include "shoal.trustMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.scratchVolumes" . | nindent 4 }}
    {{- include "shoal.trustVolumes" . | nindent 4 }}
  {{- include "shoal.placement" (list . .Values.gateway) | nindent 2 }}
  {{- if not .Values.gateway.affinity }}
  {{- include "shoal.spread" (list . "gateway") | nindent 2 }}
  {{- end }}
{{- end -}}
