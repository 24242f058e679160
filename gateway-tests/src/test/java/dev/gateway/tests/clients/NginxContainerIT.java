package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Images;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** nginx in a container as the upstream. */
class NginxContainerIT {
    private static GenericContainer<?> nginx;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        nginx = new GenericContainer<>(DockerImageName.parse(Images.nginx()))
                .withImagePullPolicy(image -> false) // there is no registry it could come from
                .withExposedPorts(80)
                .waitingFor(Wait.forHttp("/healthz"));
        nginx.start();
    }

    @AfterAll
    static void stop() {
        if (nginx != null) {
            nginx.stop();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H2_TO_H1"})
    void requestsReachTheContainer(Pairing pairing) throws Exception {
        try (Rig rig = Rig.to(nginx.getMappedPort(80)).start();
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/whoami", "host", "shop.test"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).contains("proto=HTTP/1.1").contains("for=127.0.0.1");

            PeerStream large = client.open();
            large.send(Head.request("GET", "/large"), true);
            assertThat(large.receiveFinal().status()).isEqualTo(200);
            assertThat(large.receiveBody()).hasSize(3_000_000);
        }
    }

    @Test
    void anUpstreamThatIsSilentMeansATimeoutAndComesBack() throws Exception {
        try (Rig rig = Rig.to(nginx.getMappedPort(80))
                        .upstream("timeouts: {responseHeaders: 500ms}")
                        .start();
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(status(client)).isEqualTo(200);
            nginx.getDockerClient().pauseContainerCmd(nginx.getContainerId()).exec();
            try {
                assertThat(status(client)).isEqualTo(504);
            } finally {
                nginx.getDockerClient()
                        .unpauseContainerCmd(nginx.getContainerId())
                        .exec();
            }
            assertThat(status(client)).isEqualTo(200);
        }
    }

    private static int status(Peer client) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/whoami"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
