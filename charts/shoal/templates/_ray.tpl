{{/* What all Ray pods have in common. */}}

{{/* tini is process 1: it hands SIGTERM to `ray start`, which then drains the node, and reaps what Chromium leaves. KubeRay
puts the command that it made into an environment variable; it is quoted for a shell. */}}
{{- define "shoal.rayCommand" -}}
command: [/usr/bin/tini, --, /bin/bash, -c]
args: ['ulimit -n 65536; eval "exec $KUBERAY_GEN_RAY_START_CMD"']
{{- end -}}

{{- define "shoal.rayEnv" -}}
- {name: HOME, value: /tmp}
- {name: RAY_USAGE_STATS_ENABLED, value: "0"}
{{- /* Else the client server's child may die between fork and exec, and a supervisor waits 30 s (ray-project/ray#63202). */}}
- {name: GRPC_ENABLE_FORK_SUPPORT, value: "0"}
{{- include "shoal.trustEnv" . }}
{{- with .Values.ray.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What Ray's autoscaler says of a group at this moment, as YAML: an upgrade replaces the whole list of groups, and what it
left out would fall back to the least. Within the bounds of these values, as KubeRay reads it. Call with (list $ group). */}}
{{- define "shoal.groupNow" -}}
{{- $root := index . 0 -}}{{- $group := index . 1 -}}
{{- $replicas := $group.minReplicas | int -}}
{{- $strategy := dict -}}
{{- if and $root.Release.IsUpgrade $root.Values.ray.autoscaler.enabled -}}
{{- $cluster := lookup "ray.io/v1" "RayCluster" $root.Release.Namespace (include "shoal.rayCluster" $root) | default dict -}}
{{- range (dig "spec" "workerGroupSpecs" list $cluster) -}}
{{- if eq .groupName $group.name -}}
{{- $replicas = max $replicas (min (int $group.maxReplicas) (int .replicas)) -}}
{{- $strategy = .scaleStrategy | default dict -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "replicas" $replicas "scaleStrategy" $strategy) -}}
{{- end -}}

{{/* Fixed ports, so that network policies can name them; without these Ray chooses any. */}}
{{- define "shoal.rayStartParams" -}}
node-manager-port: "6380"
object-manager-port: "6381"
min-worker-port: "10002"
max-worker-port: "19999"
object-store-memory: {{ mul (int .Values.ray.objectStoreMiB) 1048576 | toString | quote }}
disable-usage-stats: "true"
{{- end -}}

{{/* Call with (list $ shmMiB scratch). KubeRay adds no /dev/shm of its own where one is mounted. */}}
{{- define "shoal.rayVolumes" -}}
- name: shared-memory
  emptyDir: {medium: Memory, sizeLimit: {{ index . 1 }}Mi}
- name: tmp
  emptyDir: {sizeLimit: {{ index . 2 | quote }}}
- name: data
  emptyDir: {sizeLimit: {{ index . 2 | quote }}}
{{- include "shoal.trustVolumes" (index . 0) }}
{{- end -}}

{{- define "shoal.rayMounts" -}}
- {name: shared-memory, mountPath: /dev/shm}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /var/lib/shoal}
{{- include "shoal.trustMounts" . }}
{{- end -}}

{{/* Call with (list $ component values). */}}
{{- define "shoal.rayMetadata" -}}
{{- $root := index . 0 -}}{{- $at := index . 2 -}}
labels:
  {{- include "shoal.podLabels" (list $root (index . 1)) | nindent 2 }}
annotations:
  # A pod of Ray is only there while it has work; evicting it loses that work's time. Why these do not come and go with
  # the work: docs/operations/size.md.
  {{- $kept := dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" "karpenter.sh/do-not-disrupt" "true" }}
  {{- toYaml (merge (dict) ($at.podAnnotations | default dict) $kept) | nindent 2 }}
{{- end -}}

{{- define "shoal.rayPodSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: {{ .Values.ray.autoscaler.enabled | ternary "Never" "Always" }}
{{- include "shoal.pullSecrets" . }}
securityContext:
  {{- include "shoal.podSecurity" . | nindent 2 }}
{{- end -}}
