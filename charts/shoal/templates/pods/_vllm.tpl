{{/* The pods of a model. Call with (list $ model). */}}
{{- define "shoal.vllmPods" -}}
{{- $root := index . 0 -}}
{{- with index . 1 -}}
{{- $component := printf "vllm-%s" .name -}}
{{- $gpus := .gpus | default 1 | int -}}
{{- $weights := .weights | default dict -}}
{{- $mode := $weights.accessMode | default "" -}}
{{- $name := printf "%s-vllm-%s" (include "shoal.fullname" $root) .name -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list $root $component) | nindent 4 }}
    shoal.dev/model: {{ .name | quote }}
  annotations:
    cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
    karpenter.sh/do-not-disrupt: "true"
spec:
  serviceAccountName: {{ include "shoal.fullname" $root }}-vllm
  automountServiceAccountToken: false
  # VLLM_PORT of a Service named `vllm` would be taken for a setting.
  enableServiceLinks: false
  terminationGracePeriodSeconds: 120
  {{- with $root.Values.vllm.runtimeClassName }}
  runtimeClassName: {{ . | quote }}
  {{- end }}
  {{- include "shoal.pullSecrets" $root | nindent 2 }}
  {{- include "shoal.priorityClass" (list $root "model") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" $root | nindent 4 }}
  {{- include "shoal.trustInit" (list $root (include "shoal.image" (list $root $root.Values.vllm.image))) | nindent 2 }}
  containers:
    - name: vllm
      image: {{ include "shoal.image" (list $root $root.Values.vllm.image) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [vllm, serve]
      args:
        # The same as `shoal inference --print` (services/inference/command.py); a test compares them.
        - {{ .model | quote }}
        {{- $imageTokens := .imageTokens | default 1280 | int }}
        {{- $grid := $root.Values.settings.model_image_grid | default 32 | int }}
        {{- $said := list
              (list "--served-model-name" (.servedName | default .name))
              (list "--host" "0.0.0.0")
              (list "--port" "8000")
              (list "--max-model-len" (.contextTokens | default 32768 | int))
              (list "--max-num-seqs" (.sequences | default 64 | int))
              (list "--max-num-batched-tokens" 8192)
              (list "--gpu-memory-utilization" (.memoryShare | default 0.9))
              (list "--kv-cache-dtype" (.kvCache | default "auto"))
              (list "--limit-mm-per-prompt" (dict "image" (hasKey . "images" | ternary .images 4 | int) "video" 0 | toJson))
              (list "--mm-processor-kwargs" (dict "size" (dict "shortest_edge" (mul 16 $grid $grid) "longest_edge" (mul $imageTokens $grid $grid)) | toJson))
              (list "--structured-outputs-config" (dict "backend" "xgrammar" "disable_any_whitespace" true | toJson))
        }}
        {{- if gt $gpus 1 }}{{- $said = append $said (list "--tensor-parallel-size" $gpus) }}{{- end }}
        {{- if gt (.apiServers | default 1 | int) 1 }}{{- $said = append $said (list "--api-server-count" (.apiServers | int)) }}{{- end }}
        {{- with .quantization }}{{- $said = append $said (list "--quantization" .) }}{{- end }}
        {{- range $said }}
        - {{ index . 0 }}
        - {{ index . 1 | toString | quote }}
        {{- end }}
        - --enable-prefix-caching
        - --enable-prompt-tokens-details
        {{- range .args }}
        - {{ . | quote }}
        {{- end }}
      ports:
        - {name: http, containerPort: 8000}
      env:
        - {name: HOME, value: /cache}
        # What torch.compile made for this model and card is kept with the weights: it takes a minute of each start.
        - {name: VLLM_CACHE_ROOT, value: {{ eq $mode "ReadOnlyMany" | ternary "/cache/vllm" "/weights/vllm-cache" | quote }}}
        - {name: VLLM_NO_USAGE_STATS, value: "1"}
        - {name: DO_NOT_TRACK, value: "1"}
        - {name: HF_HOME, value: /weights}
        {{- include "shoal.trustEnv" $root | nindent 8 }}
        {{- if not $root.Values.vllm.download }}
        - {name: HF_HUB_OFFLINE, value: "1"}
        {{- end }}
        {{- with $root.Values.vllm.existingTokenSecret }}
        - name: HF_TOKEN
          valueFrom:
            secretKeyRef: {name: {{ . | quote }}, key: token}
        {{- end }}
      # Loading, compiling and capturing graphs take minutes; only then do the other probes begin. A pod is ready once
      # it has answered a step with a picture and a schema (services/inference/warm_up.py).
      startupProbe:
        exec:
          command:
            - python3
            - /etc/shoal/warm-up.py
            - http://127.0.0.1:8000
            - {{ .servedName | default .name | quote }}
            {{- if hasKey . "images" | ternary .images 4 | int }}
            - --images
            {{- end }}
        timeoutSeconds: 300
        periodSeconds: 10
        failureThreshold: {{ mul (int $root.Values.vllm.startup.minutes) 6 }}
      livenessProbe:
        httpGet: {path: /health, port: http}
        periodSeconds: 15
        timeoutSeconds: 10
        failureThreshold: 8
      readinessProbe:
        httpGet: {path: /health, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      lifecycle:
        preStop:
          exec: {command: [/bin/sleep, "10"]}
      securityContext:
        {{- include "shoal.containerSecurity" $root | nindent 8 }}
      {{- $resources := deepCopy (.resources | default $root.Values.vllm.resources) }}
      {{- $limits := $resources.limits | default dict }}
      {{- $_ := set $limits $root.Values.vllm.gpuResource $gpus }}
      {{- $_ := set $resources "limits" $limits }}
      resources:
        {{- toYaml $resources | nindent 8 }}
      volumeMounts:
        - {name: weights, mountPath: /weights}
        - {name: cache, mountPath: /cache}
        - {name: tmp, mountPath: /tmp}
        - {name: shared-memory, mountPath: /dev/shm}
        - {name: warm-up, mountPath: /etc/shoal, readOnly: true}
        {{- include "shoal.trustMounts" $root | nindent 8 }}
  volumes:
    - name: weights
      persistentVolumeClaim:
        claimName: {{ $weights.existingClaim | default (printf "%s-weights" $name) | quote }}
    - name: cache
      emptyDir: {sizeLimit: 20Gi}
    - name: warm-up
      configMap: {name: {{ include "shoal.fullname" $root }}-vllm}
    - name: tmp
      emptyDir: {sizeLimit: 10Gi}
    - name: shared-memory
      emptyDir: {medium: Memory, sizeLimit: {{ $root.Values.vllm.shm | quote }}}
    {{- include "shoal.trustVolumes" $root | nindent 4 }}
  {{- include "shoal.placement" (list $root (dict "nodeSelector" (.nodeSelector | default $root.Values.vllm.nodeSelector) "tolerations" (.tolerations | default $root.Values.vllm.tolerations) "affinity" .affinity)) | nindent 2 }}
{{- end -}}
{{- end -}}
