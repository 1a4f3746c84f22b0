{{/* Which model Shoal asks, and where. */}}

{{/* The entry of vllm.models that is used, as YAML; empty when none is. */}}
{{- define "shoal.usedModel" -}}
{{- if and (not .Values.model.url) .Values.vllm.models -}}
{{- $wanted := .Values.model.name | default (index .Values.vllm.models 0).name -}}
{{- $found := dict -}}
{{- range .Values.vllm.models }}{{- if eq .name $wanted }}{{- $found = . }}{{- end }}{{- end -}}
{{- if not $found }}{{- fail (printf "model.name is %q, but vllm.models has no model of that name" $wanted) }}{{- end -}}
{{- toYaml $found -}}
{{- end -}}
{{- end -}}

{{- define "shoal.modelUrl" -}}
{{- if .Values.model.url -}}
{{- .Values.model.url -}}
{{- else -}}
{{- with (include "shoal.usedModel" . | fromYaml) -}}
{{- if .name -}}
http://{{ include "shoal.fullname" $ }}-{{ $.Values.router.enabled | ternary "router" "vllm" }}-{{ .name }}:8000/v1
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "shoal.modelName" -}}
{{- if .Values.model.url -}}
{{- required "model.name is needed with model.url: the name under which that server serves the model" .Values.model.name -}}
{{- else -}}
{{- with (include "shoal.usedModel" . | fromYaml) -}}{{- .servedName | default .name | default "" -}}{{- end -}}
{{- end -}}
{{- end -}}
