package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import dev.gateway.tests.support.WaitingPlugin;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signals that come when they are least convenient. */
@Tag("jar")
@Tag("platform")
@Timeout(90)
class SignalsIT {
    /** Far longer than the tests take. */
    private static final String DRAIN = "100s";

    private static String yaml(int origin) {
        return """
        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
        routes: [{rules: [{backendRefs: [{name: app}]}]}]
        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
        admin: {address: 127.0.0.1, port: 0}
        accessLog: {format: off}
        drain: {timeout: %s}
        """
                .formatted(origin, DRAIN);
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130"})
    void theSecondOneEndsADrainAtOnce(String signal, int exit) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.send(Head.response(200, "content-length", "1000"), false);
                    arrived.countDown();
                    stream.peer().awaitClosed();
                });
                GatewayJar gateway = GatewayJar.of(yaml(origin.port()))
                        .under("env", "--default-signal=INT")
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            arrived.await();
            gateway.signal("TERM");
            gateway.awaitLog("Draining");
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(503);
            gateway.signal(signal);
            assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isEqualTo(exit);
            gateway.awaitLog("Second SIG" + signal);
            assertThatThrownBy(stream::receiveBody).isInstanceOf(IOException.class);
        }
    }

    private static GatewayJar.Builder waitingFor(Path pipe) throws IOException {
        String rule = "rules: [{filters: [" + WaitingPlugin.FILTER + "], ";
        return GatewayJar.of(yaml(1).replace("rules: [{", rule))
                .file("plugins/waiting.jar", WaitingPlugin.jar(pipe))
                .startedWith("");
    }

    /** It cannot finish its start. There is nothing to drain yet. */
    @Test
    void aGatewayThatIsStillStartingEnds() throws Exception {
        Path directory = Files.createTempDirectory("signals");
        Path pipe = directory.resolve("pipe");
        assertThat(Tools.run("mkfifo", pipe.toString()).exit()).isZero();
        try (GatewayJar gateway = waitingFor(pipe).start()) {
            gateway.await("the opening of the pipe", () -> isOpening(gateway));
            gateway.signal("TERM");
            assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isEqualTo(143);
        } finally {
            Files.delete(pipe);
            Files.delete(directory);
        }
    }

    /** Whoever changes the file of a gateway may tell it so at once, and not only when it serves. */
    @Test
    @SuppressWarnings("try") // the writer only has to be there
    void aReloadThatIsAskedForWhileItStartsFollowsTheStart() throws Exception {
        Path directory = Files.createTempDirectory("signals");
        Path pipe = directory.resolve("pipe");
        assertThat(Tools.run("mkfifo", pipe.toString()).exit()).isZero();
        try (GatewayJar gateway =
                waitingFor(pipe).under("env", "--default-signal=HUP").start()) {
            gateway.await("the opening of the pipe", () -> isOpening(gateway));
            gateway.signal("HUP");
            try (OutputStream writer = Files.newOutputStream(pipe)) {
                gateway.awaitLog("Reloading: SIGHUP");
                gateway.awaitLog("Reloaded: ");
                gateway.signal("TERM");
                assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isZero();
            }
        } finally {
            Files.delete(pipe);
            Files.delete(directory);
        }
    }

    /** Nobody who rotates or reads logs may hold up a start, a reload or the end. */
    @Test
    void anAccessLogThatNobodyReadsHoldsUpNothing() throws Exception {
        Path directory = Files.createTempDirectory("signals");
        Path pipe = directory.resolve("access.log");
        assertThat(Tools.run("mkfifo", pipe.toString()).exit()).isZero();
        String config = yaml(1).replace("{format: off}", "{path: " + pipe + "}");
        try (GatewayJar gateway =
                GatewayJar.of(config).under("env", "--default-signal=HUP").start()) {
            gateway.signal("HUP");
            gateway.awaitLog("Reloaded: ");
            gateway.signal("TERM");
            assertThat(gateway.awaitExit(Duration.ofSeconds(20))).isZero();
        } finally {
            Files.delete(pipe);
            Files.delete(directory);
        }
    }

    /** Whether a thread waits for the other end of a pipe. */
    private static boolean isOpening(GatewayJar gateway) {
        try (var tasks = Files.list(Path.of("/proc/" + gateway.pid() + "/task"))) {
            return tasks.anyMatch(task -> {
                try {
                    return Files.readString(task.resolve("wchan")).contains("wait_for_partner");
                } catch (IOException e) {
                    return false; // it has ended
                }
            });
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void aBrokenFileThatIsReadOnSighupChangesNothing() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(yaml(origin.port()))
                        .under("env", "--default-signal=HUP")
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            ask(client);
            Path file = gateway.directory().resolve("gateway.yaml");
            Files.writeString(file, "listeners: [{name: web, address: 127.0.0.1, port: \n");
            gateway.signal("HUP");
            gateway.await("a reload that fails", () -> failedReloads(gateway) >= 1);
            ask(client); // on the same connection
            try (Peer another = Peers.HTTP1.connect(gateway.port("web"))) {
                ask(another);
            }
            assertThat(gateway.metric("gateway_config_generation")).isEqualTo(1);
            assertThat(origin.connections()).as("the pool was kept").isEqualTo(1);
            gateway.awaitLog("gateway.yaml:");
            Files.writeString(file, yaml(origin.port()));
            gateway.signal("HUP");
            gateway.await("a reload that succeeds", () -> generation(gateway) >= 1 && isReadyWithoutReason(gateway));
            ask(client);
        }
    }

    private static double failedReloads(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_config_reloads_total", "failure");
        } catch (IOException | InterruptedException e) {
            return 0;
        }
    }

    private static double generation(GatewayJar gateway) {
        try {
            return gateway.metric("gateway_config_generation");
        } catch (IOException | InterruptedException e) {
            return 0;
        }
    }

    private static boolean isReadyWithoutReason(GatewayJar gateway) {
        try {
            return gateway.admin("/ready", Duration.ofSeconds(20)).body().equals("ready\n");
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    private static void ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }
}
