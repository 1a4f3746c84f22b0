{{/* The router's pods. */}}
{{- define "shoal.routerPods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "router") | nindent 4 }}
  annotations:
    checksum/models: {{ toJson (list .Values.vllm.models .Values.router) | sha256sum }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 120
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  containers:
    - name: nginx
      image: {{ include "shoal.image" (list . .Values.router.image) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [nginx, -g, "daemon off;", -c, /etc/shoal/nginx.conf]
      ports:
        - {name: http, containerPort: 8000}
      readinessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 5
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 15
        failureThreshold: 4
      lifecycle:
        preStop:
          exec: {command: [/bin/sleep, "5"]}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.router.resources | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/shoal, readOnly: true}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      configMap: {name: {{ include "shoal.fullname" . }}-router}
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
  {{- include "shoal.spread" (list . "router") | nindent 2 }}
{{- end -}}
