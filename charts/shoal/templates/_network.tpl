{{/* Parts of network policies. Each gives rules of a list. */}}

{{- define "shoal.dns" -}}
- to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ .Values.networkPolicy.dnsNamespace | quote }}}
    {{- if .Values.networkPolicy.nodeLocalDns }}
    - ipBlock: {cidr: 169.254.20.10/32}
    {{- end }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
    # OpenShift's DNS pods listen there.
    - {protocol: UDP, port: 5353}
    - {protocol: TCP, port: 5353}
{{- end -}}

{{/* Peers: everything but what Shoal's own filter refuses (files/refused-networks.yaml is written from services/addresses.py)
and what `networkPolicy.refusedNetworks` adds. */}}
{{- define "shoal.publicPeers" -}}
{{- $refused := concat (.Files.Get "files/refused-networks.yaml" | fromYamlArray) .Values.networkPolicy.refusedNetworks | uniq -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      {{- range $refused }}{{- if not (contains ":" .) }}
      - {{ . }}
      {{- end }}{{- end }}
- ipBlock:
    cidr: ::/0
    except:
      {{- range $refused }}{{- if contains ":" . }}
      - {{ . }}
      {{- end }}{{- end }}
{{- end -}}

{{- define "shoal.anywhere" -}}
- ipBlock: {cidr: 0.0.0.0/0}
- ipBlock: {cidr: "::/0"}
{{- end -}}

{{- define "shoal.tcpPorts" -}}
{{- range . }}
- {protocol: TCP, port: {{ . }}}
{{- end }}
{{- end -}}

{{- define "shoal.networkPeers" -}}
{{- range . }}
- ipBlock: {cidr: {{ . | quote }}}
{{- end }}
{{- end -}}

{{/* Call with (list $ component). */}}
{{- define "shoal.peer" -}}
- podSelector:
    matchLabels:
      {{- include "shoal.selector" . | nindent 6 }}
{{- end -}}

{{/* Ray's ports as shoal.rayStartParams sets them: those of a node, and those of the processes on it. */}}
{{- define "shoal.rayNodePorts" -}}
- {protocol: TCP, port: 6380}
- {protocol: TCP, port: 6381}
{{- end -}}

{{- define "shoal.rayWorkerPorts" -}}
- {protocol: TCP, port: 10002, endPort: 19999}
{{- end -}}

{{- define "shoal.rayPeer" -}}
- podSelector:
    {{- include "shoal.raySelector" . | nindent 4 }}
{{- end -}}

{{- define "shoal.toDatabase" -}}
{{- if and .Values.postgresql.enabled (not .Values.database.existingSecret) (not .Values.database.url) -}}
- to:
    {{- include "shoal.peer" (list . "postgresql") | nindent 4 }}
  ports:
    - {protocol: TCP, port: 5432}
{{- else -}}
- to:
    {{- if .Values.database.networks }}
    {{- include "shoal.networkPeers" .Values.database.networks | nindent 4 }}
    {{- else }}
    {{- include "shoal.anywhere" . | nindent 4 }}
    {{- end }}
  ports:
    {{- include "shoal.tcpPorts" .Values.database.ports | nindent 4 }}
{{- end -}}
{{- end -}}

{{- define "shoal.toArtifacts" -}}
{{- if and .Values.objectStore.enabled (not .Values.artifacts.url) -}}
- to:
    {{- include "shoal.peer" (list . "object-store") | nindent 4 }}
  ports:
    - {protocol: TCP, port: 8333}
{{- else -}}
- to:
    {{- include "shoal.publicPeers" . | nindent 4 }}
    {{- include "shoal.networkPeers" .Values.artifacts.networks | nindent 4 }}
  ports:
    {{- include "shoal.tcpPorts" .Values.artifacts.ports | nindent 4 }}
{{- end -}}
{{- end -}}

{{- define "shoal.toModel" -}}
{{- if .Values.model.url -}}
- to:
    {{- include "shoal.publicPeers" . | nindent 4 }}
    {{- include "shoal.networkPeers" .Values.model.networks | nindent 4 }}
  ports:
    {{- include "shoal.tcpPorts" .Values.model.ports | nindent 4 }}
{{- else if .Values.router.enabled -}}
- to:
    {{- include "shoal.peer" (list . "router") | nindent 4 }}
  ports:
    - {protocol: TCP, port: 8000}
{{- else -}}
{{- range .Values.vllm.models }}
- to:
    {{- include "shoal.peer" (list $ (printf "vllm-%s" .name)) | nindent 4 }}
  ports:
    - {protocol: TCP, port: 8000}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The API server. */}}
{{- define "shoal.toKubernetes" -}}
- to:
    {{- if .Values.networkPolicy.kubernetesApiNetworks }}
    {{- include "shoal.networkPeers" .Values.networkPolicy.kubernetesApiNetworks | nindent 4 }}
    {{- else }}
    {{- include "shoal.anywhere" . | nindent 4 }}
    {{- end }}
  ports:
    {{- include "shoal.tcpPorts" .Values.networkPolicy.kubernetesApiPorts | nindent 4 }}
{{- end -}}

{{/* The collector of traces: for gateway, dispatcher and workers. */}}
{{- define "shoal.toTraces" -}}
{{- if .Values.tracing.url -}}
- to:
    {{- if .Values.tracing.to }}
    {{- toYaml .Values.tracing.to | nindent 4 }}
    {{- else }}
    - namespaceSelector: {}
    {{- end }}
  ports:
    - {protocol: TCP, port: {{ .Values.tracing.port }}}
{{- end -}}
{{- end -}}

{{/* Call with (list $ port). */}}
{{- define "shoal.fromMonitoring" -}}
{{- $root := index . 0 -}}
- from:
    {{- if $root.Values.networkPolicy.monitoringFrom }}
    {{- toYaml $root.Values.networkPolicy.monitoringFrom | nindent 4 }}
    {{- else }}
    - namespaceSelector: {}
    {{- end }}
  ports:
    - {protocol: TCP, port: {{ index . 1 }}}
{{- end -}}

{{/* Head of a policy. Call with (list $ component). */}}
{{- define "shoal.policyHead" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "shoal.fullname" (index . 0) }}-{{ index . 1 }}
  labels:
    {{- include "shoal.labels" . | nindent 4 }}
{{- end -}}
