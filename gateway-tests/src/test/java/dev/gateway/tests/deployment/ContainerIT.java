package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.HealthCheck;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Images;
import dev.gateway.tests.support.Pairing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * The image as it is deployed, with nginx behind it on a network of their own: no root, nothing writable but /tmp, 128
 * MiB.
 */
@Tag("alone")
@Tag("jar")
@Timeout(180)
class ContainerIT {
    private static final long MEMORY = 128L << 20;

    /** The image's own check, of which only the interval of 10 s changes: each start waits for the first one. */
    private static final HealthCheck CHECKED_OFTEN =
            new HealthCheck().withInterval(Duration.ofMillis(500).toNanos());

    @TempDir
    private Path etc;

    private String gatewayImage;
    private Network network;
    private GenericContainer<?> nginx;
    private GenericContainer<?> gateway;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        String nginxImage = Images.nginx();
        gatewayImage = Images.gateway();
        network = Network.newNetwork();
        nginx = new GenericContainer<>(DockerImageName.parse(nginxImage))
                .withImagePullPolicy(image -> false) // there is no registry it could come from
                .withNetwork(network)
                .withNetworkAliases("app")
                .withExposedPorts(80)
                .waitingFor(Wait.forHttp("/healthz"));
        nginx.start();
        Files.setPosixFilePermissions(etc, PosixFilePermissions.fromString("rwxr-xr-x"));
        configure("/");
        gateway = newGateway("65532:65532");
        gateway.start();
    }

    private GenericContainer<?> newGateway(String user) {
        return new GenericContainer<>(DockerImageName.parse(gatewayImage))
                .withImagePullPolicy(image -> false)
                .withNetwork(network)
                .withExposedPorts(8080)
                .withCreateContainerCmdModifier(command -> Objects.requireNonNull(command.withUser(user)
                                .withHealthcheck(CHECKED_OFTEN)
                                .getHostConfig())
                        .withBinds(Bind.parse(etc + ":/etc/gateway:ro"))
                        .withReadonlyRootfs(true)
                        .withCapDrop(Capability.ALL)
                        .withSecurityOpts(List.of("no-new-privileges"))
                        .withTmpFs(Map.of("/tmp", "size=8m"))
                        .withMemory(MEMORY)
                        .withMemorySwap(MEMORY))
                .waitingFor(Wait.forHealthcheck().withStartupTimeout(Duration.ofSeconds(60)));
    }

    /** Replaces the file by another, as editors do; what does not begin with the prefix is answered with 404. */
    private void configure(String prefix) throws IOException {
        Path next = Files.writeString(
                etc.resolve("next"),
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - matches: [{path: {type: PathPrefix, value: %s}}]
                        backendRefs: [{name: app}]
                upstreams:
                  - name: app
                    endpoints: [{host: app, port: 80}]
                    timeouts: {connect: 1s, responseHeaders: 1s}
                admin: {}
                drain: {timeout: 20s}
                """
                        .formatted(prefix));
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(next, etc.resolve("gateway.yaml"), StandardCopyOption.REPLACE_EXISTING);
    }

    @AfterEach
    void stop() {
        for (GenericContainer<?> container : new GenericContainer<?>[] {gateway, nginx}) {
            if (container != null) {
                container.stop();
            }
        }
        if (network != null) {
            network.close();
        }
    }

    private Peer connect(Pairing pairing) throws IOException {
        return pairing.client.connect(gateway.getMappedPort(8080));
    }

    private static int get(Peer client, String path) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    private int get(String path) throws Exception {
        try (Peer client = connect(Pairing.H1_TO_H1)) {
            return get(client, path);
        }
    }

    private InspectContainerResponse.ContainerState state() {
        return docker().inspectContainerCmd(gateway.getContainerId()).exec().getState();
    }

    private DockerClient docker() {
        return gateway.getDockerClient();
    }

    /** Asks until the answer is the one that is waited for; the test's timeout bounds it. */
    private void await(int status, Callable<Integer> question) throws Exception {
        while (true) {
            try {
                if (question.call() == status) {
                    return;
                }
            } catch (IOException e) {
                // not yet: asked again
            }
        }
    }

    @Test
    void requestsPassInBothProtocols() throws Exception {
        for (Pairing pairing : List.of(Pairing.H1_TO_H1, Pairing.H2_TO_H1)) {
            try (Peer client = connect(pairing)) {
                assertThat(get(client, "/whoami")).isEqualTo(200);
                assertThat(get(client, "/large")).isEqualTo(200);
            }
        }
        // A line is written a moment after its response, and the engine reads it a moment later.
        while (!gateway.getLogs().contains("\"path\":\"/large\"")) {
            assertThat(state().getRunning()).isTrue();
        }
        assertThat(gateway.getLogs()).doesNotContain("WARN", "ERROR");
    }

    @Test
    void anyUserWillDo() throws Exception {
        gateway.stop();
        gateway = newGateway("1000860000:0"); // as OpenShift chooses them
        gateway.start();
        assertThat(get("/whoami")).isEqualTo(200);
    }

    @Test
    void stoppingLetsADownloadFinishAndExitsWithZero() throws Exception {
        try (Peer client = connect(Pairing.H1_TO_H1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/large"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            // 3 MB do not fit into what lies between: the gateway still holds the response while it is told to stop.
            CompletableFuture<Void> stopped =
                    CompletableFuture.runAsync(() -> docker().stopContainerCmd(gateway.getContainerId())
                            .withTimeout(60)
                            .exec());
            while (!gateway.getLogs().contains("Draining")) {
                assertThat(stopped).isNotDone();
            }
            assertThat(stream.receiveBody()).hasSize(3_000_000);
            stopped.join();
        }
        assertThat(state().getExitCodeLong()).isZero();
        assertThat(state().getOOMKilled()).isFalse();
    }

    @Test
    void memoryIsEnoughUnderLoad() throws Exception {
        int clients = 32;
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try {
            List<Future<List<Integer>>> done = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                Pairing pairing = i % 2 == 0 ? Pairing.H1_TO_H1 : Pairing.H2_TO_H1;
                done.add(threads.submit(() -> {
                    List<Integer> statuses = new ArrayList<>();
                    try (Peer client = connect(pairing)) {
                        for (int r = 0; r < 1_000; r++) {
                            statuses.add(get(client, r % 100 == 0 ? "/large" : "/whoami"));
                        }
                    }
                    return statuses;
                }));
            }
            for (Future<List<Integer>> each : done) {
                assertThat(each.get())
                        .as(() -> gateway.getLogs())
                        .hasSize(1_000)
                        .containsOnly(200);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(state().getOOMKilled()).isFalse();
        assertThat(state().getRunning()).isTrue();
        assertThat(state().getHealth().getStatus()).isEqualTo("healthy");
    }

    @Test
    void anUpstreamThatIsPausedIsATimeoutAndComesBack() throws Exception {
        try (Peer client = connect(Pairing.H1_TO_H1)) {
            assertThat(get(client, "/whoami")).isEqualTo(200);
            docker().pauseContainerCmd(nginx.getContainerId()).exec();
            try {
                assertThat(get(client, "/whoami")).isEqualTo(504);
            } finally {
                docker().unpauseContainerCmd(nginx.getContainerId()).exec();
            }
            assertThat(get(client, "/whoami")).isEqualTo(200);
        }
    }

    @Test
    void anUpstreamThatIsKilledIsAFailureAndComesBack() throws Exception {
        try (Peer client = connect(Pairing.H1_TO_H1)) {
            assertThat(get(client, "/whoami")).isEqualTo(200);
            docker().killContainerCmd(nginx.getContainerId()).exec();
            assertThat(get(client, "/whoami")).isBetween(502, 504);
            docker().startContainerCmd(nginx.getContainerId()).exec();
            await(200, () -> get(client, "/whoami"));
        }
    }

    @Test
    void aConfigurationThatIsReplacedTakesOverAndABadOneDoesNot() throws Exception {
        try (Peer client = connect(Pairing.H1_TO_H1)) {
            assertThat(get(client, "/whoami")).isEqualTo(200);
            configure("/large");
            await(404, () -> get(client, "/whoami"));
            assertThat(get(client, "/large")).isEqualTo(200);

            Files.writeString(etc.resolve("gateway.yaml"), "listeners: nonsense");
            while (!gateway.getLogs().contains("gateway.yaml:1:12")) {
                assertThat(get(client, "/large")).isEqualTo(200);
            }
            configure("/");
            await(200, () -> get(client, "/whoami"));
        }
    }
}
