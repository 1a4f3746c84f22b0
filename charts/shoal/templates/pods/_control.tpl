{{/* The pod of the dispatcher. */}}
{{- define "shoal.controlPods" -}}
{{- $image := include "shoal.ownImage" (list . .Values.image.worker) -}}
metadata:
  {{- include "shoal.rayMetadata" (list . "control" .Values.ray.control) | nindent 2 }}
spec:
  serviceAccountName: {{ include "shoal.fullname" . }}-ray
  {{- include "shoal.rayPodSpec" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  terminationGracePeriodSeconds: 60
  {{- include "shoal.trustInit" (list . $image) | nindent 2 }}
  containers:
    - name: ray-worker
      image: {{ $image | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- include "shoal.rayCommand" . | nindent 6 }}
      ports:
        - {name: metrics, containerPort: 8080}
      env:
        {{- include "shoal.rayEnv" . | nindent 8 }}
        # The dispatcher never ends by itself: there is nothing to wait for.
        - {name: RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S, value: "0"}
        {{- include "shoal.s3Env" . | nindent 8 }}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.ray.control.resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.rayMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.rayVolumes" (list . (add (int .Values.ray.objectStoreMiB) 64) "4Gi") | nindent 4 }}
  {{- include "shoal.placement" (list . .Values.ray.control) | nindent 2 }}
{{- end -}}
