{{/* Which Secret holds what. */}}

{{- define "shoal.postgresqlSecret" -}}
{{- .Values.postgresql.existingSecret | default (printf "%s-postgresql" (include "shoal.fullname" .)) -}}
{{- end -}}

{{- define "shoal.databaseSecret" -}}
{{- if .Values.database.existingSecret -}}
{{- .Values.database.existingSecret -}}
{{- else if .Values.database.url -}}
{{- include "shoal.fullname" . }}-database
{{- else if .Values.postgresql.enabled -}}
{{- include "shoal.postgresqlSecret" . -}}
{{- else -}}
{{- fail "no database: set database.existingSecret or database.url, or postgresql.enabled=true for a trial" -}}
{{- end -}}
{{- end -}}

{{- define "shoal.databaseKey" -}}
{{- if .Values.database.existingSecret }}{{ .Values.database.existingSecretKey }}{{ else }}url{{ end -}}
{{- end -}}

{{- define "shoal.objectStoreSecret" -}}
{{- .Values.objectStore.existingSecret | default (printf "%s-object-store" (include "shoal.fullname" .)) -}}
{{- end -}}

{{/* Empty where pods get their rights from their service account. */}}
{{- define "shoal.s3Secret" -}}
{{- if .Values.artifacts.existingSecret -}}
{{- .Values.artifacts.existingSecret -}}
{{- else if .Values.artifacts.accessKeyId -}}
{{- include "shoal.fullname" . }}-s3
{{- else if and .Values.objectStore.enabled (not .Values.artifacts.url) -}}
{{- include "shoal.objectStoreSecret" . -}}
{{- end -}}
{{- end -}}

{{- define "shoal.artifactsUrl" -}}
{{- if .Values.artifacts.url -}}
{{- .Values.artifacts.url -}}
{{- else if .Values.objectStore.enabled -}}
s3://{{ .Values.objectStore.bucket }}
{{- else -}}
{{- fail "no artifact store: set artifacts.url to s3://BUCKET/PREFIX or az://CONTAINER/PREFIX, or objectStore.enabled=true for a trial" -}}
{{- end -}}
{{- end -}}

{{/* boto3 reads these by itself; they are no settings of Shoal's. */}}
{{- define "shoal.s3Env" -}}
{{- with (include "shoal.s3Secret" .) }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: {{ empty $.Values.artifacts.existingSecret | ternary "AWS_ACCESS_KEY_ID" $.Values.artifacts.accessKeyIdKey | quote }}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: {{ empty $.Values.artifacts.existingSecret | ternary "AWS_SECRET_ACCESS_KEY" $.Values.artifacts.secretAccessKeyKey | quote }}
{{- end }}
{{- end -}}

{{- define "shoal.databaseEnv" -}}
- name: SHOAL_STORE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "shoal.databaseSecret" . | quote }}
      key: {{ include "shoal.databaseKey" . | quote }}
{{- end -}}

{{- define "shoal.modelEnv" -}}
{{- with .Values.model.existingSecret }}
- name: SHOAL_MODEL_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: {{ $.Values.model.existingSecretKey | quote }}
{{- end }}
{{- end -}}

{{/* For gateway and supervisor, which hands it to the workers. */}}
{{- define "shoal.helpEnv" -}}
{{- if .Values.help.enabled }}
- name: SHOAL_HELP_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.help.existingSecret | default (printf "%s-help" (include "shoal.fullname" .)) | quote }}
      key: {{ empty .Values.help.existingSecret | ternary "help-token" .Values.help.existingSecretKey | quote }}
{{- end }}
{{- end -}}

{{- define "shoal.cookieSecret" -}}
{{- .Values.gateway.existingCookieSecret | default (printf "%s-cookies" (include "shoal.fullname" .)) -}}
{{- end -}}

{{/* A secret value that stays what it is: read from the cluster where it exists, else made. Helm finds nothing where it only
renders (`helm template`, tools that do as much); what were made there would be another secret at each rendering, so it is
refused. With a cluster even an empty list is an answer. Call with (list $ secret key value), the value that names the
operator's own Secret. */}}
{{- define "shoal.kept" -}}
{{- $root := index . 0 -}}{{- $namespace := $root.Release.Namespace -}}
{{- if not (lookup "v1" "Secret" $namespace "") -}}
{{- fail (printf "Helm does not see the cluster, and a secret made now would be another one at each rendering: name a Secret of your own in %s, or let Helm look (helm install, helm upgrade, or helm template --dry-run=server)" (index . 3)) -}}
{{- end -}}
{{- $old := lookup "v1" "Secret" $namespace (index . 1) -}}
{{- $value := "" -}}
{{- with $old }}{{- with .data }}{{- with (index . (index $ 2)) }}{{- $value = b64dec . }}{{- end }}{{- end }}{{- end -}}
{{- $value | default (randAlphaNum 48) -}}
{{- end -}}
