{{/* Pods of the database and the object store for trials. */}}
{{- define "shoal.postgresqlPods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "postgresql") | nindent 4 }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 60
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  containers:
    - name: postgresql
      image: {{ include "shoal.image" (list . .Values.postgresql.image) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [-c, max_connections=200]
      ports:
        - {name: postgresql, containerPort: 5432}
      env:
        - {name: POSTGRES_USER, value: shoal}
        - {name: POSTGRES_DB, value: shoal}
        - {name: PGDATA, value: /var/lib/postgresql/data/pgdata}
        - name: POSTGRES_PASSWORD
          valueFrom:
            secretKeyRef: {name: {{ include "shoal.postgresqlSecret" . | quote }}, key: password}
      readinessProbe:
        exec: {command: [pg_isready, -U, shoal, -d, shoal]}
        periodSeconds: 5
      livenessProbe:
        exec: {command: [pg_isready, -U, shoal, -d, shoal]}
        periodSeconds: 15
        failureThreshold: 6
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.postgresql.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/postgresql/data}
        - {name: run, mountPath: /var/run/postgresql}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: run
      emptyDir: {}
    - name: tmp
      emptyDir: {}
{{- end -}}

{{- define "shoal.objectStorePods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "object-store") | nindent 4 }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 60
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  containers:
    - name: seaweedfs
      image: {{ include "shoal.image" (list . .Values.objectStore.image) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [weed, server, -dir=/data, -s3, -s3.port=8333, -s3.config=/etc/shoal/s3.json, -master.volumeSizeLimitMB=1024]
      ports:
        - {name: s3, containerPort: 8333}
      readinessProbe:
        tcpSocket: {port: s3}
        periodSeconds: 5
      livenessProbe:
        tcpSocket: {port: s3}
        periodSeconds: 15
        failureThreshold: 6
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.objectStore.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: config, mountPath: /etc/shoal, readOnly: true}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      secret: {secretName: {{ include "shoal.objectStoreSecret" . | quote }}, items: [{key: s3.json, path: s3.json}]}
    - name: tmp
      emptyDir: {}
{{- end -}}

{{- define "shoal.bucketPods" -}}
metadata:
  labels:
    {{- include "shoal.podLabels" (list . "bucket") | nindent 4 }}
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "shoal.pullSecrets" . | nindent 2 }}
  {{- include "shoal.priorityClass" (list . "control") | nindent 2 }}
  securityContext:
    {{- include "shoal.podSecurity" . | nindent 4 }}
  containers:
    - name: bucket
      image: {{ include "shoal.ownImage" (list . .Values.image.gateway) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [python, -c]
      args:
        - |
          import os, boto3
          s3 = boto3.client("s3", endpoint_url=os.environ["ENDPOINT"], region_name="us-east-1")
          if os.environ["BUCKET"] not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]:
              s3.create_bucket(Bucket=os.environ["BUCKET"])
      env:
        - {name: ENDPOINT, value: "http://{{ include "shoal.fullname" . }}-object-store:8333"}
        - {name: BUCKET, value: {{ .Values.objectStore.bucket | quote }}}
        {{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef: {name: {{ include "shoal.objectStoreSecret" $ | quote }}, key: {{ . | quote }}}
        {{- end }}
      securityContext:
        {{- include "shoal.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.objectStore.bucketResources | nindent 8 }}
      volumeMounts:
        {{- include "shoal.scratchMounts" . | nindent 8 }}
  volumes:
    {{- include "shoal.scratchVolumes" . | nindent 4 }}
{{- end -}}
