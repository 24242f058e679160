package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link DemoCommand}: what is said if the demo cannot start. */
class DemoCommandTest {
    private final CommandRun run = new CommandRun();

    @ParameterizedTest
    @ValueSource(strings = {"-1", "65536", "99999"})
    void aPortThatThereIsNotIsRefused(String port) {
        assertThat(run.gateway("demo", "--upstream-port=" + port)).isEqualTo(2);
        assertThat(run.err().lines()).containsExactly("--upstream-port: expected a port from 0 to 65535, not " + port);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void whatIsNoNumberIsNoPort() {
        assertThat(run.gateway("demo", "--upstream-port", "http")).isEqualTo(2);
        assertThat(run.err())
                .startsWith("Invalid value for option '--upstream-port'")
                .contains("'http'");
    }

    @Test
    void aTakenPortOfTheUpstreamIsExplained(@TempDir Path directory) throws Exception {
        Path config = Files.writeString(
                directory.resolve("gateway.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                admin: {port: 0}
                """);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertThat(run.gateway("demo", "--config", config.toString(), "--upstream-port", port))
                    .isEqualTo(3);
            assertThat(run.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "cannot start: port " + port + " of 127.0.0.1, which the demo upstream needs, is taken:")
                    .contains("--upstream-port");
            assertThat(run.out()).isEmpty();
        }
    }
}
