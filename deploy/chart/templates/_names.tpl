{{- /* At most 57 characters: a Service has this name with "-admin", and names of Services have at most 63. */}}
{{- define "gateway.name" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name }}
{{- $name := printf "%s-%s" .Release.Name $chart }}
{{- if eq .Release.Name $chart }}{{ $name = $chart }}{{ end }}
{{- .Values.fullnameOverride | default $name | trunc 57 | trimSuffix "-" }}
{{- end }}

{{- define "gateway.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "gateway.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* Without the chart's version: a new version of the chart alone must not restart pods. */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* "true" if the admin listener has a loopback address, else empty. */}}
{{- define "gateway.adminIsLocal" -}}
{{- $address := dig "admin" "address" "" (.Values.config | default dict) | default "127.0.0.1" }}
{{- if or (hasPrefix "127." $address) (has $address (list "::1" "localhost")) }}true{{ end }}
{{- end }}

{{- /* The port of all probes; and the host, if the admin listener has only a loopback address of the node. */}}
{{- define "gateway.probed" -}}
port: admin
{{- if include "gateway.adminIsLocal" . }}
host: {{ eq (toString .Values.config.admin.address) "::1" | ternary "::1" "127.0.0.1" | quote }}
{{- end }}
{{- end }}

{{- /* The port of the admin listener, which kubelets must reach from outside the pod. */}}
{{- define "gateway.adminPort" -}}
{{- $admin := (.Values.config | default dict).admin }}
{{- if not (kindIs "map" $admin) }}
  {{- fail "probes need config.admin: write {address: 0.0.0.0}" }}
{{- end }}
{{- $local := and (include "gateway.adminIsLocal" .) (not .Values.hostNetwork) }}
{{- if or $admin.unix $local (eq (toString $admin.enabled) "false") }}
  {{- fail "probes cannot reach config.admin, because they come from outside the pod: write {address: 0.0.0.0}" }}
{{- end }}
{{- $admin.port | default 9901 }}
{{- end }}

{{- /* Ports of the Service as JSON: service.ports, and one for each other listener that is reachable from outside. */}}
{{- define "gateway.ports" -}}
{{- $ports := .Values.service.ports | default list }}
{{- $served := list }}
{{- $names := list "admin" }}
{{- range $ports }}
  {{- $served = append $served (toString .targetPort) }}
  {{- $names = append $names .name }}
{{- end }}
{{- range (.Values.config | default dict).listeners }}
  {{- $port := toString .port }}
  {{- $address := .address | default "0.0.0.0" }}
  {{- $local := or .unix (hasPrefix "127." $address) (has $address (list "::1" "localhost")) }}
  {{- if and (not $local) (regexMatch "^[1-9][0-9]*$" $port) (not (has $port $served)) }}
    {{- $name := .name | toString | lower | regexFind "^[a-z][a-z0-9]{0,14}$" | default (printf "port-%s" $port) }}
    {{- if has $name $names }}{{ $name = printf "port-%s" $port }}{{ end }}
    {{- $ports = append $ports (dict "name" $name "port" (int $port) "targetPort" (int $port)) }}
    {{- $served = append $served $port }}
    {{- $names = append $names $name }}
  {{- end }}
{{- end }}
{{- if not $ports }}
  {{- fail "nobody can reach a listener of config from outside the pod: give one an address such as 0.0.0.0 and a port, or write service.ports" }}
{{- end }}
{{- toJson $ports }}
{{- end }}

{{- /* Fails if no listener has a port of the Service. Ports from variables are unknown here, so they are not checked. */}}
{{- define "gateway.checkPorts" -}}
{{- $ports := list }}
{{- range (.Values.config | default dict).listeners }}{{ $ports = append $ports (toString .port) }}{{ end }}
{{- if not (contains "$" (join " " $ports)) }}
  {{- range .Values.service.ports }}
    {{- if not (has (toString .targetPort) $ports) }}
      {{- fail (printf "service.ports: '%s' leads to port %v, but no listener of config has this port" .name .targetPort) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
