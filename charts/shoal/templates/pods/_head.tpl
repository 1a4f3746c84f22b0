{{/* The pod of Ray's head. */}}
{{- define "shoal.headPods" -}}
{{- $image := include "shoal.ownImage" (list . .Values.image.worker) -}}
{{- $auto := .Values.ray.autoscaler.enabled -}}
metadata:
  {{- include "shoal.rayMetadata" (list . "head" .Values.ray.head) | nindent 2 }}
spec:
  serviceAccountName: {{ include "shoal.fullname" . }}-ray-head
  {{- include "shoal.rayPodSpec" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  terminationGracePeriodSeconds: 60
  {{- include "shoal.trustInit" (list . $image) | nindent 2 }}
  containers:
    - name: ray-head
      image: {{ $image | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- include "shoal.rayCommand" . | nindent 6 }}
      ports:
        - {name: gcs-server, containerPort: 6379}
        - {name: dashboard, containerPort: 8265}
        - {name: client, containerPort: 10001}
        - {name: metrics, containerPort: 8080}
      env:
        {{- include "shoal.rayEnv" . | nindent 8 }}
        - {name: RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S, value: "0"}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.ray.head.resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.rayMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.rayVolumes" (list . (add (int .Values.ray.objectStoreMiB) 64) "4Gi") | nindent 4 }}
    {{- if $auto }}
    {{- include "shoal.kubernetesToken" . | nindent 4 }}
    {{- end }}
  {{- include "shoal.placement" (list . .Values.ray.head) | nindent 2 }}
{{- end -}}
