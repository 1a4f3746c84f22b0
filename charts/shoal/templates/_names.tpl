{{/* Names and labels. */}}

{{/* A name of at most so many characters. A longer one ends with a hash of the whole, so that two long names stay two.
Call with (list text most). */}}
{{- define "shoal.cut" -}}
{{- $text := index . 0 -}}{{- $most := index . 1 | int -}}
{{- if gt (len $text) $most -}}
{{- printf "%s-%s" (trunc (int (sub $most 9)) $text | trimSuffix "-") (sha256sum $text | trunc 8) -}}
{{- else -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{/* Prefix of all names: at most 30 characters, since Services, Jobs and labels of pods take 63 in all. */}}
{{- define "shoal.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $whole := .Values.fullnameOverride | default (contains $name $release | ternary $release (printf "%s-%s" $release $name)) -}}
{{- $cut := include "shoal.cut" (list $whole 30) -}}
{{- if not (regexMatch "^[a-z]" $cut) -}}
{{- fail (printf "names of objects would begin with %q, and a Service's name must begin with a letter: set fullnameOverride" $cut) -}}
{{- end -}}
{{- $cut -}}
{{- end -}}

{{/* The RayCluster's name. KubeRay calls its head's Service NAME-head-svc and its token's Secret NAME. */}}
{{- define "shoal.rayCluster" -}}{{ include "shoal.fullname" . }}-ray{{- end -}}

{{- define "shoal.raySecret" -}}
{{- .Values.ray.existingAuthSecret | default (include "shoal.rayCluster" .) -}}
{{- end -}}

{{/* Call with (list $ "component"). */}}
{{- define "shoal.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end -}}

{{/* Labels of pods: none that changes with the chart's version alone, or each version would restart databases and models. */}}
{{- define "shoal.podLabels" -}}
{{- $root := index . 0 -}}
{{ include "shoal.selector" . }}
app.kubernetes.io/part-of: shoal
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "shoal.labels" -}}
{{- $root := index . 0 -}}
{{ include "shoal.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: shoal
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | quote }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* All pods of Ray, of whatever part. By our own labels: every pod with `ray.io/cluster` is a node of the cluster for Ray's
autoscaler, so no other pod may carry it, and the pod of `helm test` that stands for a browser's must be held as one. */}}
{{- define "shoal.raySelector" -}}
matchLabels:
  app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
  app.kubernetes.io/instance: {{ .Release.Name | quote }}
matchExpressions:
  - {key: app.kubernetes.io/component, operator: In, values: [head, control, browser]}
{{- end -}}

{{/* Call with (list $ image), image having repository, tag and digest; ours take the appVersion for a tag. */}}
{{- define "shoal.image" -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default (index . 0).Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "shoal.ownImage" -}}
{{- $root := index . 0 -}}{{- $image := index . 1 -}}
{{- with $root.Values.image.registry }}{{ . }}/{{ end -}}{{ include "shoal.image" (list $root $image) }}
{{- end -}}

{{/* Priority classes are the cluster's, not the namespace's. */}}
{{- define "shoal.priorityClassName" -}}
{{- $root := index . 0 -}}
{{- printf "%s-%s-%s" $root.Release.Namespace (include "shoal.fullname" $root) (index . 1) -}}
{{- end -}}

{{- define "shoal.priorityClass" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.priorityClasses.create }}
priorityClassName: {{ include "shoal.priorityClassName" . }}
{{- end }}
{{- end -}}
