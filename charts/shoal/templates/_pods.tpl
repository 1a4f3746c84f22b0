{{/* What pods have in common. */}}

{{- define "shoal.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.podSecurity.runAsUser }}
runAsUser: {{ int64 . }}
{{- end }}
{{- with .Values.podSecurity.runAsGroup }}
runAsGroup: {{ int64 . }}
{{- end }}
{{- with .Values.podSecurity.fsGroup }}
fsGroup: {{ int64 . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "shoal.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "shoal.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Call with (list $ values), values having nodeSelector, tolerations and affinity. */}}
{{- define "shoal.placement" -}}
{{- $at := index . 1 -}}
{{- with $at.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $at.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $at.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Nodes and zones apart, where possible. Call with (list $ component). */}}
{{- define "shoal.spread" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "shoal.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Restarts pods when their settings change. */}}
{{- define "shoal.settingsChecksum" -}}
checksum/settings: {{ include "shoal.settingsData" . | sha256sum }}
{{- end -}}

{{/* Volumes and mounts of our own programs: the root file system is read-only. */}}
{{- define "shoal.scratchVolumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
- name: data
  emptyDir:
    sizeLimit: 1Gi
{{- end -}}

{{- define "shoal.scratchMounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /var/lib/shoal
{{- end -}}

{{/* The token for Kubernetes of a pod's account, for those of its containers that mount it. */}}
{{- define "shoal.kubernetesToken" -}}
- name: kubernetes-token
  projected:
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3607}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
{{- end -}}

{{/* Waits until the schema is up to date, so that a pod is not restarted for a migration that still runs. */}}
{{- define "shoal.waitForSchema" -}}
- name: wait-for-schema
  image: {{ include "shoal.ownImage" (list . .Values.image.gateway) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  # `shoal keys list` asks the database for the schema it needs; it fails until the migration is done.
  command: [/bin/sh, -c]
  args:
    - |
      until shoal keys list >/dev/null; do sleep 3; done
  envFrom:
    - configMapRef:
        name: {{ include "shoal.fullname" . }}-settings
  env:
    {{- include "shoal.databaseEnv" . | nindent 4 }}
    {{- include "shoal.trustEnv" . | nindent 4 }}
  securityContext:
    {{- include "shoal.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml .Values.migration.waitResources | nindent 4 }}
  volumeMounts:
    {{- include "shoal.scratchMounts" . | nindent 4 }}
    {{- include "shoal.trustMounts" . | nindent 4 }}
{{- end -}}
