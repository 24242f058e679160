package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** curl in each of its protocols, to each protocol upstream. */
@Tag("platform")
class CurlIT {
    @TempDir
    static Path directory;

    private static Origin origin;
    private static Rig toHttp1;
    private static Rig toHttp2;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start()
                .on("/", Behaviors.text("hello"))
                .on("/echo", Behaviors.echo())
                .on("/hints", (stream, head) -> {
                    stream.send(Head.response(103, "link", "</style.css>"), false);
                    Behaviors.text("hinted").serve(stream, head);
                });
        toHttp1 = Rig.to(origin, Pairing.H1_TO_H1).clear("h2cUpgrade: true").start();
        toHttp2 = Rig.to(origin, Pairing.H1_TO_H2).clear("h2cUpgrade: true").start();
    }

    @AfterAll
    static void stop() throws Exception {
        toHttp1.close();
        toHttp2.close();
        origin.close();
    }

    @ParameterizedTest
    @CsvSource({
        "--http1.0, false, 1",
        "--http1.1, false, 1.1",
        "--http2-prior-knowledge, false, 2",
        "--http2, false, 2",
        "--http1.0, true, 1",
        "--http1.1, true, 1.1",
        "--http2, true, 2",
    })
    void requestsPassInEachProtocol(String option, boolean tls, String version) throws Exception {
        byte[] body = new byte[400_000];
        new Random(3).nextBytes(body);
        Path file = Files.write(directory.resolve("body"), body);
        Path received = directory.resolve("received");
        for (Rig rig : new Rig[] {toHttp1, toHttp2}) {
            // curl says "1" for HTTP/1.0 where the response does; an HTTP/1.1 response to it is right as well.
            Tools.Result get = curl(rig, tls, option, "/", "-w", " %{http_version} %{http_code}");
            assertThat(get.output()).startsWith("hello ").endsWith(" 200");
            if (!version.equals("1")) {
                assertThat(get.output()).isEqualTo("hello " + version + " 200");
            }

            Tools.Result hints = curl(rig, tls, option, "/hints", "-w", " %{http_code}");
            assertThat(hints.output()).isEqualTo("hinted 200");

            Tools.Result post = curl(
                    rig,
                    tls,
                    option,
                    "/echo",
                    "--data-binary",
                    "@" + file,
                    "-o",
                    received.toString(),
                    "-w",
                    "%{http_code}");
            assertThat(post.output()).isEqualTo("200");
            assertThat(Files.readAllBytes(received)).isEqualTo(body);

            if (!version.equals("1")) {
                // Of unknown length, and with an expectation.
                Tools.Result put = curl(
                        rig,
                        tls,
                        option,
                        "/echo",
                        "-H",
                        "Transfer-Encoding: chunked",
                        "-H",
                        "Expect: 100-continue",
                        "-T",
                        file.toString(),
                        "-o",
                        received.toString(),
                        "-w",
                        "%{http_code}");
                assertThat(put.output()).isEqualTo("200");
                assertThat(Files.readAllBytes(received)).isEqualTo(body);
            }
        }
    }

    private static Tools.Result curl(Rig rig, boolean tls, String option, String path, String... more)
            throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Tools.find("curl"), "-sS", "-k", "--max-time", "20", "--noproxy", "*", option));
        command.addAll(List.of(more));
        command.add((tls ? "https" : "http") + "://localhost:" + (tls ? rig.tlsPort() : rig.port()) + path);
        Tools.Result result = Tools.run(30, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return result;
    }
}
