{{- /* 57 characters, since a Service has it with "-admin", and names of Services have 63 at most. */}}
{{- define "gateway.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 57 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* The port of the admin listener, which kubelets must reach from outside the pod. */}}
{{- define "gateway.adminPort" -}}
{{- $admin := (.Values.config | default dict).admin }}
{{- if not (kindIs "map" $admin) }}
  {{- fail "config.admin is needed for probes: write {address: 0.0.0.0}" }}
{{- end }}
{{- $address := $admin.address | default "127.0.0.1" }}
{{- if or $admin.unix (hasPrefix "127." $address) (has $address (list "::1" "localhost")) (eq (toString $admin.enabled) "false") }}
  {{- fail "config.admin cannot be reached by probes, which come from outside the pod: write {address: 0.0.0.0}" }}
{{- end }}
{{- $admin.port | default 9901 }}
{{- end }}

{{- /* Fails if a port of the Service leads nowhere. Ports that come from variables are not known here. */}}
{{- define "gateway.checkPorts" -}}
{{- $ports := list }}
{{- range (.Values.config | default dict).listeners }}{{ $ports = append $ports (toString .port) }}{{ end }}
{{- if not (contains "$" (join " " $ports)) }}
  {{- range .Values.service.ports }}
    {{- if not (has (toString .targetPort) $ports) }}
      {{- fail (printf "service.ports: no listener of config has port %v, which '%s' leads to" .targetPort .name) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
