{{/* Certificate authorities of the operator's own (tls.caBundle). A first container puts them after the image's public ones,
since most programs take the file that such a variable names instead of their own list. */}}

{{- define "shoal.hasTrust" -}}
{{- with .Values.tls.caBundle }}{{ if or .configMap .existingSecret }}true{{ end }}{{ end }}
{{- end -}}

{{/* Call with (list $ image), the image of the pod that gets it. */}}
{{- define "shoal.trustContainer" -}}
{{- $root := index . 0 -}}
{{- if (include "shoal.hasTrust" $root) }}
- name: trust
  image: {{ index . 1 | quote }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  command: [/bin/sh, -ec]
  args:
    - |
      cat /etc/ssl/certs/ca-certificates.crt /etc/shoal/ca/ca.crt >/etc/shoal/trust/ca.crt
  securityContext:
    {{- include "shoal.containerSecurity" $root | nindent 4 }}
  resources:
    {{- toYaml $root.Values.tls.resources | nindent 4 }}
  volumeMounts:
    - {name: ca-bundle, mountPath: /etc/shoal/ca, readOnly: true}
    - {name: trust, mountPath: /etc/shoal/trust}
{{- end }}
{{- end -}}

{{/* The same for a pod that has no other container before its own. */}}
{{- define "shoal.trustInit" -}}
{{- with (include "shoal.trustContainer" .) }}
initContainers:
  {{- . | trim | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "shoal.trustEnv" -}}
{{- if (include "shoal.hasTrust" .) }}
{{- range list "SSL_CERT_FILE" "AWS_CA_BUNDLE" "REQUESTS_CA_BUNDLE" }}
- {name: {{ . }}, value: /etc/shoal/trust/ca.crt}
{{- end }}
- {name: PGSSLROOTCERT, value: /etc/shoal/ca/ca.crt}
{{- end }}
{{- end -}}

{{- define "shoal.trustMounts" -}}
{{- if (include "shoal.hasTrust" .) }}
- {name: ca-bundle, mountPath: /etc/shoal/ca, readOnly: true}
- {name: trust, mountPath: /etc/shoal/trust, readOnly: true}
{{- end }}
{{- end -}}

{{- define "shoal.trustVolumes" -}}
{{- if (include "shoal.hasTrust" .) }}
- name: ca-bundle
  {{- with .Values.tls.caBundle }}
  {{- if .configMap }}
  configMap: {name: {{ .configMap | quote }}, items: [{key: {{ .key | quote }}, path: ca.crt}]}
  {{- else }}
  secret: {secretName: {{ .existingSecret | quote }}, items: [{key: {{ .key | quote }}, path: ca.crt}]}
  {{- end }}
  {{- end }}
- name: trust
  emptyDir: {sizeLimit: 16Mi}
{{- end }}
{{- end -}}
