{{/* What an upgrade restarts: a hash of each part's pods, kept in a ConfigMap, and what a change of it does. */}}

{{/* Hashes of pods by part, as YAML. */}}
{{- define "shoal.parts" -}}
{{- $parts := dict "gateway" (include "shoal.gatewayPods" .) "supervisor" (include "shoal.supervisorPods" .) -}}
{{- if .Values.migration.enabled }}{{- $_ := set $parts "migration" (include "shoal.migrationPods" .) }}{{- end -}}
{{- if .Values.router.enabled }}{{- $_ := set $parts "router" (include "shoal.routerPods" .) }}{{- end -}}
{{- if .Values.postgresql.enabled }}{{- $_ := set $parts "postgresql" (include "shoal.postgresqlPods" .) }}{{- end -}}
{{- if .Values.objectStore.enabled }}{{- $_ := set $parts "object-store" (include "shoal.objectStorePods" .) }}{{- end -}}
{{- range .Values.vllm.models }}{{- $_ := set $parts (printf "vllm-%s" .name) (include "shoal.vllmPods" (list $ .)) }}{{- end -}}
{{- $start := printf "%s %s" .Values.ray.version (include "shoal.rayStartParams" .) -}}
{{- $_ := set $parts "ray-head" (printf "%s %s %s" $start (toJson (list .Values.ray.autoscaler .Values.ray.gcsFaultTolerance .Values.ray.existingAuthSecret)) (include "shoal.headPods" .)) -}}
{{- $_ := set $parts "ray-control" (printf "%s %s" $start (include "shoal.controlPods" .)) -}}
{{- range .Values.browsers.groups }}
{{- $_ := set $parts (printf "ray-%s" .name) (printf "%s %v %s" $start .browsers (include "shoal.browserPods" (list $ .))) }}
{{- end -}}
{{- range $part, $pods := $parts }}
{{ $part }}: {{ sha256sum $pods | trunc 16 | quote }}
{{- end }}
{{- end -}}

{{/* One sentence on what becomes of a part whose pods change. Call with (list $ part). */}}
{{- define "shoal.whatRestarts" -}}
{{- $root := index . 0 -}}{{- $part := index . 1 -}}
{{- $delete := printf "kubectl -n %s delete pod --wait=false -l ray.io/cluster=%s,ray.io/group=" $root.Release.Namespace (include "shoal.rayCluster" $root) -}}
{{- if eq $part "gateway" -}}
pods are replaced one after the other, none missing in between: about a minute each.
{{- else if eq $part "supervisor" -}}
its pod is replaced. Where settings differ, the dispatcher is drained and replaced: for about a minute no session begins; those that run go on.
{{- else if eq $part "migration" -}}
a Job migrates the schema. New gateways and the supervisor wait for it; the old ones work on.
{{- else if eq $part "router" -}}
pods are replaced one after the other: seconds.
{{- else if has $part (list "postgresql" "object-store") -}}
its one pod is replaced: away for up to a minute. Sessions go on and keep their outcomes until it is back.
{{- else if hasPrefix "vllm-" $part -}}
replicas are replaced one at a time, the old one ending first: each takes the time of loading, {{ $root.Values.vllm.startup.minutes }} minutes at most. Sessions that need the model wait.
{{- else if eq $root.Values.ray.upgradeStrategy "Recreate" -}}
KubeRay ends ALL Ray pods at once (ray.upgradeStrategy). Sessions get up to {{ $root.Values.browsers.drainSeconds }} s, then go on from their checkpoints in new pods.
{{- else if eq $part "ray-head" -}}
its pod stays until you end it: {{ $delete }}headgroup
{{- if not $root.Values.ray.gcsFaultTolerance.enabled }} (all workers restart with it, sessions go on from their checkpoints){{ end }}
{{- else if eq $part "ray-control" -}}
its pod stays until you end it: {{ $delete }}control (the dispatcher starts anew: about a minute)
{{- else -}}
pods stay until you end them, and new ones come changed. A few at a time, each drains for up to {{ $root.Values.browsers.drainSeconds }} s: {{ $delete }}{{ trimPrefix "ray-" $part }}
{{- end -}}
{{- end -}}

{{/* The plan of an upgrade, a line for each part that changes. */}}
{{- define "shoal.plan" -}}
{{- $now := include "shoal.parts" . | fromYaml -}}
{{- $kept := lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-parts" (include "shoal.fullname" .)) | default dict -}}
{{- $before := $kept.data | default dict -}}
{{- if not $before -}}
  unknown: Helm did not look at the cluster (use --dry-run=server), or the release before kept no list of its parts.
{{- else -}}
{{- $lines := list -}}
{{- range $part, $hash := $now -}}
{{- if not (hasKey $before $part) -}}
{{- $lines = append $lines (printf "  %s: is new" $part) -}}
{{- else if ne (index $before $part) $hash -}}
{{- $lines = append $lines (printf "  %s: %s" $part (include "shoal.whatRestarts" (list $ $part))) -}}
{{- end -}}
{{- end -}}
{{- range $part, $_ := $before -}}
{{- if not (hasKey $now $part) -}}{{- $lines = append $lines (printf "  %s: is removed" $part) -}}{{- end -}}
{{- end -}}
{{- $lines | default (list "  nothing: no pod changes") | join "\n" -}}
{{- end -}}
{{- end -}}
