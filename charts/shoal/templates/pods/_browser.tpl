{{/* The pods of a group of browsers. Call with (list $ group). */}}
{{- define "shoal.browserPods" -}}
{{- $root := index . 0 -}}
{{- $image := include "shoal.ownImage" (list $root $root.Values.image.worker) -}}
{{- with index . 1 -}}
metadata:
  {{- include "shoal.rayMetadata" (list $root "browser" $root.Values.browsers) | nindent 2 }}
spec:
  serviceAccountName: {{ include "shoal.fullname" $root }}-ray
  {{- include "shoal.rayPodSpec" $root | nindent 2 }}
  {{- include "shoal.priorityClass" (list $root "browser") | nindent 2 }}
  terminationGracePeriodSeconds: {{ $root.Values.browsers.terminationGracePeriodSeconds }}
  {{- include "shoal.trustInit" (list $root $image) | nindent 2 }}
  containers:
    - name: ray-worker
      image: {{ $image | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- include "shoal.rayCommand" $root | nindent 6 }}
      ports:
        - {name: metrics, containerPort: 8080}
      env:
        {{- include "shoal.rayEnv" $root | nindent 8 }}
        - {name: RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S, value: {{ $root.Values.browsers.drainSeconds | quote }}}
        {{- include "shoal.s3Env" $root | nindent 8 }}
      securityContext:
        {{- include "shoal.containerSecurity" $root | nindent 8 }}
        {{- if eq $root.Values.browsers.sandbox "on" }}
        # Chromium's sandbox makes user namespaces, which the runtime's own profile forbids.
        seccompProfile:
          type: Localhost
          localhostProfile: {{ include "shoal.seccompPath" $root | quote }}
        {{- end }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.rayMounts" $root | nindent 8 }}
        {{- range $root.Values.browsers.jobSecrets }}
        - {name: "secrets-{{ .tenant }}", mountPath: /etc/shoal/secrets/{{ .tenant }}, readOnly: true}
        {{- end }}
  volumes:
    {{- include "shoal.rayVolumes" (list $root .shmMiB $root.Values.browsers.scratch) | nindent 4 }}
    {{- range $root.Values.browsers.jobSecrets }}
    - name: "secrets-{{ .tenant }}"
      secret: {secretName: {{ .existingSecret | quote }}, defaultMode: 288}
    {{- end }}
  {{- include "shoal.placement" (list $root .) | nindent 2 }}
{{- end -}}
{{- end -}}
