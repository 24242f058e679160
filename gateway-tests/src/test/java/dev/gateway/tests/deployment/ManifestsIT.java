package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.ConfigSchema;
import dev.gateway.tests.support.Tools;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicySpec;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What {@code deploy} has for Kubernetes, rendered by the tools of operators and read by the schemas of Kubernetes. */
class ManifestsIT {
    private static final Path DEPLOY = Path.of("../deploy");
    private static final Map<String, Class<? extends HasMetadata>> KINDS = Map.of(
            "v1/ConfigMap", ConfigMap.class,
            "v1/Service", Service.class,
            "v1/ServiceAccount", ServiceAccount.class,
            "apps/v1/Deployment", Deployment.class,
            "apps/v1/DaemonSet", DaemonSet.class,
            "autoscaling/v2/HorizontalPodAutoscaler", HorizontalPodAutoscaler.class,
            "networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class,
            "policy/v1/PodDisruptionBudget", PodDisruptionBudget.class,
            "monitoring.coreos.com/v1/PrometheusRule", PrometheusRule.class,
            "monitoring.coreos.com/v1/ServiceMonitor", ServiceMonitor.class);

    /** Ways to deploy. */
    enum Rendering {
        BASE(5, "kustomize", "build", "kubernetes/base"),
        SIDECAR(4, "kustomize", "build", "kubernetes/sidecar"),
        MONITORING(1, "cat", "kubernetes/monitoring/service-monitor.yaml"),
        CHART(7, helm()),
        CHART_WITH_EVERYTHING(
                9,
                helm(
                        "autoscaling.enabled=true",
                        "serviceMonitor.enabled=true",
                        "serviceMonitor.labels.release=prometheus",
                        "javaOptions=-XX:NewSize=32m",
                        "env[0].name=TIER",
                        "env[0].value=gold",
                        "secrets={tls,users}",
                        "imagePullSecrets[0].name=registry",
                        "nodeSelector.disktype=ssd",
                        "podAnnotations.a=b",
                        "service.annotations.c=d",
                        "service.type=LoadBalancer",
                        "service.loadBalancerClass=example.com/lb",
                        "service.externalTrafficPolicy=Local",
                        "service.ports[0].name=web",
                        "service.ports[0].port=80",
                        "service.ports[0].targetPort=8080",
                        "service.ports[0].appProtocol=kubernetes.io/h2c",
                        "autoscaling.behavior.scaleDown.stabilizationWindowSeconds=600",
                        "minReadySeconds=5",
                        "podLabels.team=edge",
                        "priorityClassName=system-cluster-critical",
                        "dnsPolicy=None",
                        "dnsConfig.nameservers={192.0.2.53}",
                        "topologySpreadConstraints[0].maxSkew=1",
                        "topologySpreadConstraints[0].topologyKey=topology.kubernetes.io/zone",
                        "topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule",
                        "lifecycle.preStop.sleep.seconds=5",
                        "readinessProbe.failureThreshold=5",
                        "extraVolumes[0].name=tokens",
                        "extraVolumes[0].emptyDir.medium=Memory",
                        "extraVolumeMounts[0].name=tokens",
                        "extraVolumeMounts[0].mountPath=/tokens",
                        "initContainers[0].name=fetch",
                        "initContainers[0].image=fetch:1",
                        "extraContainers[0].name=shipper",
                        "extraContainers[0].image=shipper:1",
                        "serviceAccount.name=edge",
                        "serviceAccount.annotations.role=edge",
                        "fullnameOverride=front",
                        "config.admin.port=9902")),
        CHART_WITH_LITTLE(5, helm("podDisruptionBudget.enabled=false", "networkPolicy.enabled=false"));

        private final int documents;
        private final String[] command;

        Rendering(int documents, String... command) {
            this.documents = documents;
            this.command = command;
        }

        private static String[] helm(String... values) {
            List<String> command =
                    new ArrayList<>(List.of("helm", "template", "edge", "chart", "--kube-version", "1.34.0"));
            for (String value : values) {
                command.addAll(List.of("--set", value));
            }
            return command.toArray(String[]::new);
        }

        List<HasMetadata> render() throws Exception {
            return render(command);
        }

        private static List<HasMetadata> render(String... command) throws Exception {
            List<String> found = new ArrayList<>();
            for (String word : command) {
                found.add(
                        found.isEmpty()
                                ? Tools.find(word)
                                : Files.exists(DEPLOY.resolve(word))
                                        ? DEPLOY.resolve(word).toString()
                                        : word);
            }
            Tools.Result result = Tools.run(60, found);
            assertThat(result.exit()).as(result.output()).isZero();
            List<HasMetadata> documents = new ArrayList<>();
            Load yaml =
                    new Load(LoadSettings.builder().setAllowDuplicateKeys(false).build());
            for (Object document : yaml.loadAllFromString(result.output())) {
                if (document instanceof Map<?, ?> map) {
                    documents.add(typed(map));
                }
            }
            return documents;
        }
    }

    private static HasMetadata typed(Map<?, ?> document) {
        String kind = document.get("apiVersion") + "/" + document.get("kind");
        assertThat(KINDS).containsKey(kind);
        HasMetadata typed = new ObjectMapper().convertValue(document, KINDS.get(kind));
        requireNoUnknownKeys(typed, kind);
        return typed;
    }

    /** The schemas keep what they do not know; so a misspelt key is found there. */
    private static void requireNoUnknownKeys(Object value, String path) {
        if (value instanceof Collection<?> items) {
            items.forEach(item -> requireNoUnknownKeys(item, path + "[]"));
        } else if (value != null && value.getClass().getName().startsWith("io.fabric8.")) {
            for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())) {
                        Object content = content(field, value);
                        if (field.getName().equals("additionalProperties")) {
                            assertThat((Map<?, ?>) content)
                                    .as("unknown keys in " + path)
                                    .isNullOrEmpty();
                        } else {
                            requireNoUnknownKeys(content, path + "." + field.getName());
                        }
                    }
                }
            }
        }
    }

    private static Object content(Field field, Object value) {
        try {
            field.setAccessible(true);
            return field.get(value);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> Stream<T> all(List<HasMetadata> documents, Class<T> type) {
        return documents.stream().filter(type::isInstance).map(type::cast);
    }

    private static GatewayConfig load(String name, String yaml) {
        LoadResult result = ConfigLoader.parse(name, yaml.getBytes(StandardCharsets.UTF_8), DEPLOY, Map.of());
        assertThat(result).as(result.problems().toString()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private static List<Container> containers(PodSpec pod) {
        return Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream())
                .toList();
    }

    /** Returns the numbers of all ports, and the names that every cluster finds: none of sidecars. */
    private static List<IntOrString> reachable(PodSpec pod) {
        return Stream.concat(
                        containers(pod).stream()
                                .flatMap(container -> container.getPorts().stream())
                                .map(port -> new IntOrString(port.getContainerPort())),
                        pod.getContainers().stream()
                                .flatMap(container -> container.getPorts().stream())
                                .map(port -> new IntOrString(port.getName())))
                .toList();
    }

    private static Container gateway(PodSpec pod) {
        return containers(pod).stream()
                .filter(each -> each.getName().equals("gateway"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aMisspeltKeyWouldBeFound() {
        Map<String, Object> pod = Map.of("spec", Map.of("containers", List.of(Map.of("nam", "gateway"))));
        assertThatThrownBy(() ->
                        typed(Map.of("apiVersion", "apps/v1", "kind", "Deployment", "spec", Map.of("template", pod))))
                .hasMessageContaining("unknown keys in apps/v1/Deployment.spec.template.spec.containers[]");
    }

    @ParameterizedTest
    @EnumSource
    void everyDocumentIsOfItsSchema(Rendering rendering) throws Exception {
        // Two services, and what the name says.
        assertThat(rendering.render()).hasSizeGreaterThanOrEqualTo(rendering.documents);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MONITORING")
    void everyConfigurationIsValidAndEndsInTime(Rendering rendering) throws Exception {
        List<HasMetadata> documents = rendering.render();
        PodSpec pod = pod(documents).getSpec();
        List<ConfigMap> maps = all(documents, ConfigMap.class).toList();
        assertThat(maps).hasSize(1);
        GatewayConfig config =
                load(rendering + "/gateway.yaml", maps.get(0).getData().get("gateway.yaml"));

        assertThat(Duration.ofSeconds(pod.getTerminationGracePeriodSeconds()))
                .isGreaterThan(config.drain().timeout());
        List<Integer> ports = gateway(pod).getPorts().stream()
                .map(ContainerPort::getContainerPort)
                .toList();
        assertThat(config.admin()).isNotNull();
        assertThat(ports).contains(config.admin().bind().port());
        assertThat(config.listeners())
                .anyMatch(listener -> ports.contains(listener.bind().port()));
        assertThat(config.admin().bind().address())
                .as("kubelets come from outside the pod")
                .isEqualTo("0.0.0.0");
    }

    /** The sidecar learns last that the pod ends. So the application serves until clients have left the pod. */
    @Test
    void theApplicationOfASidecarServesUntilClientsHaveGone() throws Exception {
        List<HasMetadata> documents = Rendering.SIDECAR.render();
        PodSpec pod = pod(documents).getSpec();
        GatewayConfig config = load(
                "sidecar",
                all(documents, ConfigMap.class)
                        .findFirst()
                        .orElseThrow()
                        .getData()
                        .get("gateway.yaml"));
        Duration serves = Duration.ofSeconds(pod.getContainers()
                .get(0)
                .getLifecycle()
                .getPreStop()
                .getSleep()
                .getSeconds());
        Duration age = config.listeners().get(0).timeouts().maxConnectionAge();

        assertThat(age).as("0 means no limit").isPositive();
        Duration idle = Duration.ofSeconds(5); // after which an old connection is closed
        Duration nodes = Duration.ofSeconds(5); // that need a moment to send no new connections
        assertThat(serves).isGreaterThanOrEqualTo(age.plus(idle).plus(nodes));
        assertThat(Duration.ofSeconds(pod.getTerminationGracePeriodSeconds()))
                .isGreaterThan(serves.plus(config.drain().timeout()));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MONITORING")
    void everyNameThatIsUsedIsThere(Rendering rendering) throws Exception {
        List<HasMetadata> documents = rendering.render();
        PodTemplateSpec template = pod(documents);
        PodSpec pod = template.getSpec();
        for (Service service : all(documents, Service.class).toList()) {
            assertThat(template.getMetadata().getLabels())
                    .containsAllEntriesOf(service.getSpec().getSelector());
            for (ServicePort port : service.getSpec().getPorts()) {
                assertThat(reachable(pod)).contains(port.getTargetPort());
            }
        }
        Container gateway = gateway(pod);
        List<String> ports =
                gateway.getPorts().stream().map(ContainerPort::getName).toList();
        Stream.of(gateway.getStartupProbe(), gateway.getLivenessProbe(), gateway.getReadinessProbe())
                .filter(Objects::nonNull)
                .map(Probe::getHttpGet)
                .map(HTTPGetAction::getPort)
                .forEach(port -> assertThat(ports).contains(port.getStrVal()));
        List<String> volumes = pod.getVolumes().stream().map(Volume::getName).toList();
        assertThat(gateway.getVolumeMounts().stream().map(VolumeMount::getName)).isSubsetOf(volumes);
        String map = all(documents, ConfigMap.class)
                .findFirst()
                .orElseThrow()
                .getMetadata()
                .getName();
        assertThat(pod.getVolumes())
                .anyMatch(volume -> volume.getConfigMap() != null
                        && volume.getConfigMap().getName().equals(map));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MONITORING")
    void theGatewayMayDoNothingItNeedNot(Rendering rendering) throws Exception {
        PodSpec pod = pod(rendering.render()).getSpec();
        Container gateway = gateway(pod);
        assertThat(gateway.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
        assertThat(gateway.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
        assertThat(gateway.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(gateway.getResources().getLimits()).containsKey("memory").doesNotContainKey("cpu");
        boolean nonRoot = Boolean.TRUE.equals(gateway.getSecurityContext().getRunAsNonRoot())
                || Boolean.TRUE.equals(pod.getSecurityContext().getRunAsNonRoot());
        assertThat(nonRoot).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"MONITORING", "CHART_WITH_LITTLE"})
    void onlyWhoMonitorsReachesTheAdminListener(Rendering rendering) throws Exception {
        List<HasMetadata> documents = rendering.render();
        PodTemplateSpec template = pod(documents);
        List<NetworkPolicy> policies = all(documents, NetworkPolicy.class).toList();
        assertThat(policies).hasSize(1);
        NetworkPolicySpec policy = policies.get(0).getSpec();
        assertThat(policy.getPolicyTypes()).containsExactly("Ingress");
        assertThat(policy.getPodSelector().getMatchLabels()).isNotEmpty();
        assertThat(template.getMetadata().getLabels())
                .containsAllEntriesOf(policy.getPodSelector().getMatchLabels());

        List<IntOrString> admin = gateway(template.getSpec()).getPorts().stream()
                .filter(port -> port.getName().endsWith("admin"))
                .flatMap(port -> Stream.of(new IntOrString(port.getContainerPort()), new IntOrString(port.getName())))
                .toList();
        assertThat(admin).hasSize(2);
        for (NetworkPolicyIngressRule rule : policy.getIngress()) {
            List<IntOrString> opened =
                    rule.getPorts().stream().map(NetworkPolicyPort::getPort).toList();
            assertThat(opened).isNotEmpty().isSubsetOf(reachable(template.getSpec()));
            if (opened.stream().anyMatch(admin::contains)) {
                assertThat(rule.getFrom()).isNotEmpty();
            } else {
                assertThat(rule.getFrom()).as("everybody").isEmpty();
            }
        }
        assertThat(policy.getIngress())
                .flatExtracting(NetworkPolicyIngressRule::getPorts)
                .extracting(NetworkPolicyPort::getPort)
                .as("who monitors does reach it")
                .anyMatch(admin::contains);
    }

    @Test
    void aSidecarBeginsBeforeTheApplicationAndEndsAfterIt() throws Exception {
        PodSpec pod = pod(Rendering.SIDECAR.render()).getSpec();
        assertThat(pod.getInitContainers()).hasSize(1);
        assertThat(pod.getInitContainers().get(0).getRestartPolicy()).isEqualTo("Always");
        assertThat(pod.getInitContainers().get(0).getStartupProbe()).isNotNull();
        assertThat(pod.getContainers()).extracting(Container::getName).containsExactly("app");
        // Requests to the cluster go past a gateway that refuses private addresses.
        assertThat(pod.getContainers().get(0).getEnv())
                .filteredOn(variable -> variable.getName().equals("NO_PROXY"))
                .singleElement()
                .extracting(EnvVar::getValue)
                .asString()
                .contains(".svc", ".cluster.local");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "config.admin=null | probes need config.admin: write {address: 0.0.0.0}",
                "config=null | missing property 'config'",
                "config.admin.address=127.0.0.1 | probes cannot reach config.admin",
                "config.admin.address=null | probes cannot reach config.admin",
                "config.admin.enabled=false | probes cannot reach config.admin",
                "resourcess.limits=1 | additional properties 'resourcess' not allowed",
                "config.listners=1 | additional properties 'listners' not allowed",
                "kind=StatefulSet | value must be one of 'Deployment', 'DaemonSet'",
                "kind=DaemonSet,autoscaling.enabled=true | autoscaling: a DaemonSet has one pod on each node",
                "hostNetwork=true,serviceMonitor.enabled=true,config.admin.address=127.0.0.1 | Prometheus does not reach config.admin",
                "config.listeners[0].port=8081 | 'web' leads to port 8080, but no listener of config has this port",
                "service.ports=null,config.listeners[0].address=127.0.0.1 | nobody can reach a listener of config from outside",
            })
    void aMistakeInTheValuesOfTheChartIsExplained(String value, String message) throws Exception {
        Tools.Result result = chart("edge", value);
        assertThat(result.exit()).isNotZero();
        assertThat(result.output()).contains(message).doesNotContain("nil pointer");
    }

    @Test
    void aListenerGetsItsPortsWithoutBeingRepeated() throws Exception {
        List<HasMetadata> documents = Rendering.render(Rendering.helm(
                "config.listeners[0].name=web",
                "config.listeners[0].port=8080",
                "config.listeners[1].name=Secure_Edge",
                "config.listeners[1].port=8443",
                "config.listeners[1].protocol=HTTPS",
                "config.listeners[2].name=secure",
                "config.listeners[2].port=9443",
                "config.listeners[3].name=local",
                "config.listeners[3].address=127.0.0.1",
                "config.listeners[3].port=15001",
                "config.listeners[4].name=socket",
                "config.listeners[4].unix=/tmp/s"));
        assertThat(gateway(pod(documents).getSpec()).getPorts())
                .extracting(port -> port.getName() + " " + port.getContainerPort())
                .containsExactly("web 8080", "port-8443 8443", "secure 9443", "admin 9901");
        Service service = all(documents, Service.class).findFirst().orElseThrow();
        assertThat(service.getSpec().getPorts())
                .extracting(port -> port.getPort() + " " + port.getTargetPort().getStrVal())
                .containsExactly("80 web", "8443 port-8443", "9443 secure");
        NetworkPolicy policy = all(documents, NetworkPolicy.class).findFirst().orElseThrow();
        assertThat(policy.getSpec().getIngress().get(0).getPorts())
                .extracting(port -> port.getPort().getStrVal())
                .containsExactly("web", "port-8443", "secure");
    }

    @Test
    void aConfigMapAndAServiceAccountOfOnesOwnAreUsed() throws Exception {
        List<HasMetadata> documents = Rendering.render(
                Rendering.helm("existingConfigMap=mine", "serviceAccount.create=false", "serviceAccount.name=theirs"));
        assertThat(all(documents, ConfigMap.class)).isEmpty();
        assertThat(all(documents, ServiceAccount.class)).isEmpty();
        PodSpec pod = pod(documents).getSpec();
        assertThat(pod.getServiceAccountName()).isEqualTo("theirs");
        assertThat(pod.getVolumes())
                .anyMatch(volume -> volume.getConfigMap() != null
                        && volume.getConfigMap().getName().equals("mine"));
    }

    @Test
    void theChartBringsTheRulesForPrometheus() throws Exception {
        List<HasMetadata> documents = Rendering.render(
                Rendering.helm("prometheusRule.enabled=true", "prometheusRule.labels.release=prometheus"));
        PrometheusRule rule = all(documents, PrometheusRule.class).findFirst().orElseThrow();
        assertThat(rule.getMetadata().getLabels()).containsEntry("release", "prometheus");
        JsonNode written = new ObjectMapper()
                .valueToTree(new Load(LoadSettings.builder().build())
                        .loadFromString(Files.readString(DEPLOY.resolve("prometheus/gateway.rules.yaml"))));
        JsonNode rendered = new ObjectMapper().valueToTree(rule.getSpec());
        assertThat(rendered).isEqualTo(written);
    }

    @Test
    void theChartBringsTheDashboard() throws Exception {
        List<HasMetadata> documents =
                Rendering.render(Rendering.helm("dashboard.enabled=true", "dashboard.annotations.folder=edge"));
        ConfigMap map = all(documents, ConfigMap.class)
                .filter(each -> each.getMetadata().getName().endsWith("-dashboard"))
                .findFirst()
                .orElseThrow();
        assertThat(map.getMetadata().getLabels()).containsEntry("grafana_dashboard", "1");
        assertThat(map.getMetadata().getAnnotations()).containsEntry("folder", "edge");
        assertThat(map.getData().get("gateway.json").strip())
                .isEqualTo(
                        Files.readString(DEPLOY.resolve("grafana/gateway.json")).strip());
    }

    /** Helm reads no file outside of a chart. */
    @ParameterizedTest
    @CsvSource({"grafana/gateway.json", "prometheus/gateway.rules.yaml"})
    void whatTheChartCopiesIsUpToDate(String file) {
        Path original = DEPLOY.resolve(file);
        assertThat(DEPLOY.resolve("chart/files").resolve(original.getFileName()))
                .as("after a change: cp deploy/" + file + " deploy/chart/files/")
                .hasSameTextualContentAs(original);
    }

    @Test
    void podsConnectOnlyToWhatIsListedIfAnythingIs() throws Exception {
        List<HasMetadata> documents = Rendering.render(Rendering.helm(
                "networkPolicy.egress[0].to[0].namespaceSelector.matchLabels.tier=shop",
                "networkPolicy.egress[0].ports[0].port=8080",
                "networkPolicy.egress[1].to[0].ipBlock.cidr=192.0.2.0/24"));
        NetworkPolicySpec policy =
                all(documents, NetworkPolicy.class).findFirst().orElseThrow().getSpec();
        assertThat(policy.getPolicyTypes()).containsExactly("Ingress", "Egress");
        assertThat(policy.getEgress()).hasSize(3);
        assertThat(policy.getEgress().get(0).getTo()).as("DNS anywhere").isEmpty();
        assertThat(policy.getEgress().get(0).getPorts())
                .extracting(port -> port.getPort().getIntVal() + "/" + port.getProtocol())
                .containsExactly("53/UDP", "53/TCP");
        assertThat(policy.getEgress().get(1).getPorts()).hasSize(1);
        assertThat(policy.getEgress().get(2).getTo().get(0).getIpBlock().getCidr())
                .isEqualTo("192.0.2.0/24");
    }

    @Test
    void aGatewayOnEachNodeUsesTheNetworkOfItsNode() throws Exception {
        List<HasMetadata> documents = Rendering.render(
                Rendering.helm("kind=DaemonSet", "hostNetwork=true", "config.admin.address=127.0.0.1"));
        DaemonSet daemons = all(documents, DaemonSet.class).findFirst().orElseThrow();
        PodSpec pod = daemons.getSpec().getTemplate().getSpec();
        assertThat(pod.getHostNetwork()).isTrue();
        assertThat(pod.getDnsPolicy()).isEqualTo("ClusterFirstWithHostNet");
        assertThat(pod.getTopologySpreadConstraints()).isEmpty();
        assertThat(daemons.getSpec().getUpdateStrategy().getRollingUpdate().getMaxSurge())
                .as("two cannot have a node's port at a time")
                .isEqualTo(new IntOrString(0));
        Container gateway = gateway(pod);
        assertThat(List.of(gateway.getStartupProbe(), gateway.getLivenessProbe(), gateway.getReadinessProbe()))
                .extracting(probe -> probe.getHttpGet().getHost())
                .containsOnly("127.0.0.1");
        assertThat(all(documents, NetworkPolicy.class)).as("none holds there").isEmpty();
        assertThat(all(documents, PodDisruptionBudget.class))
                .as("nodes are emptied of everything else")
                .isEmpty();
        assertThat(all(documents, Service.class)).as("no metrics for others").hasSize(1);
    }

    /** Helm shows notes only where it reaches a cluster, so a copy of the chart renders them as a document. */
    @Test
    void theNotesWarnOfAnAdminListenerThatEverybodyReaches(@TempDir Path directory) throws Exception {
        Path chart = directory.resolve("chart");
        assertThat(Tools.run("cp", "-r", DEPLOY.resolve("chart").toString(), chart.toString())
                        .exit())
                .isZero();
        Files.move(chart.resolve("templates/NOTES.txt"), chart.resolve("files/notes"));
        Files.writeString(
                chart.resolve("templates/notes.yaml"),
                "text: |\n  {{- tpl (.Files.Get \"files/notes\") . | nindent 2 }}\n");
        String pods = notes(chart, "replicas=2");
        assertThat(pods).contains("port-forward deployment/edge-gateway 9901:9901", "web: 80, to port 8080");
        assertThat(pods).doesNotContain("network of their nodes");
        assertThat(notes(chart, "hostNetwork=true,kind=DaemonSet"))
                .contains(
                        "port-forward daemonset/edge-gateway",
                        "Everybody who reaches a node reaches the admin listener");
        assertThat(notes(chart, "hostNetwork=true,config.admin.address=127.0.0.1"))
                .doesNotContain("network of their nodes");
    }

    private static String notes(Path chart, String values) throws Exception {
        Tools.Result result = Tools.run(
                60,
                List.of(
                        Tools.find("helm"),
                        "template",
                        "edge",
                        chart.toString(),
                        "--kube-version",
                        "1.34.0",
                        "--show-only",
                        "templates/notes.yaml",
                        "--set",
                        values));
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }

    @Test
    void aDeploymentOnTheNetworkOfItsNodesMakesRoomBeforeItReplaces() throws Exception {
        List<HasMetadata> documents = Rendering.render(Rendering.helm("hostNetwork=true"));
        Deployment deployment = all(documents, Deployment.class).findFirst().orElseThrow();
        assertThat(deployment.getSpec().getStrategy().getRollingUpdate().getMaxSurge())
                .isEqualTo(new IntOrString(0));
        assertThat(gateway(deployment.getSpec().getTemplate().getSpec())
                        .getLivenessProbe()
                        .getHttpGet()
                        .getHost())
                .isNull();
        assertThat(all(documents, Service.class)).hasSize(2);
    }

    @Test
    void aNewVersionOfTheChartAloneRestartsNoPods() throws Exception {
        assertThat(pod(Rendering.CHART.render()).getMetadata().getLabels())
                .containsOnlyKeys("app.kubernetes.io/name", "app.kubernetes.io/instance");
    }

    @Test
    void aLongNameOfAReleaseLeavesRoomForTheNamesOfServices() throws Exception {
        Tools.Result result = chart("a-release-whose-name-has-as-many-as-53-characters-now", "replicas=1");
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines().filter(line -> line.startsWith("  name: ")))
                .hasSizeGreaterThan(5)
                .allSatisfy(line -> assertThat(line.strip().length()).isLessThanOrEqualTo("name: ".length() + 63));
    }

    @Test
    void theChartKnowsTheSectionsOfAConfiguration() throws Exception {
        ObjectMapper json = new ObjectMapper();
        JsonNode chart =
                json.readTree(DEPLOY.resolve("chart/values.schema.json").toFile());
        assertThat(chart.at("/properties/config/properties").fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(() -> properties(json).fieldNames());
    }

    private static JsonNode properties(ObjectMapper json) {
        try {
            return json.readTree(ConfigSchema.json()).get("properties");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Tools.Result chart(String release, String value) throws Exception {
        return Tools.run(
                60,
                List.of(
                        Tools.find("helm"),
                        "template",
                        release,
                        DEPLOY.resolve("chart").toString(),
                        "--kube-version",
                        "1.34.0",
                        "--set",
                        value));
    }

    @Test
    void theComposeFileMountsAConfigurationThatIsValidAndEndsInTime() throws Exception {
        Path directory = DEPLOY.resolve("compose");
        GatewayConfig config = load("compose", Files.readString(directory.resolve("gateway/gateway.yaml")));
        Map<?, ?> compose = (Map<?, ?>) new Load(LoadSettings.builder().build())
                .loadFromString(Files.readString(directory.resolve("compose.yaml")));
        Map<?, ?> service = (Map<?, ?>) ((Map<?, ?>) compose.get("services")).get("gateway");
        assertThat(service.get("volumes")).isEqualTo(List.of("./gateway:/etc/gateway:ro"));
        assertThat(Duration.parse("PT" + service.get("stop_grace_period")))
                .isGreaterThan(config.drain().timeout());
    }

    private static PodTemplateSpec pod(List<HasMetadata> documents) {
        return all(documents, Deployment.class)
                .findFirst()
                .orElseThrow()
                .getSpec()
                .getTemplate();
    }
}
