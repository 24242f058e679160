package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.EndpointConfig.Host;
import dev.gateway.config.upstream.EndpointConfig.Unix;
import dev.gateway.upstream.discovery.DnsSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which endpoints a file lists, and what is said of a file that has a mistake. */
class EndpointFileTest {
    @TempDir
    private Path directory;

    private Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("endpoints.yaml"), text);
    }

    private List<EndpointConfig> read(String text) throws IOException {
        return EndpointFile.read(write(text));
    }

    @Test
    void endpointsAreWrittenAsInAConfiguration() throws IOException {
        List<EndpointConfig> endpoints = read(
                """
                # made by hand
                - {host: 10.0.0.1, port: 8080, weight: 2, zone: eu-1a}
                - host: app.test
                  port: 8081
                - {dns: many.test, port: 8082}
                - {unix: run/app.sock}
                """);
        assertThat(endpoints.stream().map(EndpointConfig::place))
                .containsExactly(
                        new Host("10.0.0.1", 8080),
                        new Host("app.test", 8081),
                        new DnsSource.Name("many.test", 8082),
                        new Unix(directory.resolve("run/app.sock")));
        assertThat(endpoints.get(0).weight()).isEqualTo(2);
        assertThat(endpoints.get(0).zone()).isEqualTo("eu-1a");
        assertThat(endpoints.get(1).weight()).isEqualTo(1);
        assertThat(endpoints.get(1).position().toString()).isEqualTo(directory.resolve("endpoints.yaml") + ":3:3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[{\"host\": \"10.0.0.1\", \"port\": 8080}]",
                "[\n  {\n    \"host\": \"10.0.0.1\",\n    \"port\": 8080\n  }\n]\n",
                "[\n\t{\n\t\t\"host\": \"10.0.0.1\",\n\t\t\"port\": 8080\n\t}\n]\n"
            })
    void aFileMayBeJson(String json) throws IOException {
        assertThat(read(json).stream().map(EndpointConfig::place)).containsExactly(new Host("10.0.0.1", 8080));
    }

    @Test
    void aListMayBeEmpty() throws IOException {
        assertThat(read("[]")).isEmpty();
        assertThat(read("# none today\n[]\n")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    `` | :1:1: the file is empty: write [] for no endpoints
                    `# nothing` | :1:1: the file is empty: write [] for no endpoints
                    `endpoints: []` | :1:1: the file: expected a list, not a mapping: begin it with '- '
                    `- {host: 10.0.0.1}` | :1:10: 'host' and 'port' belong together: add 'port'
                    `- {host: 10.0.0.1, prt: 80}` | :1:20: unknown key 'prt' in an endpoint: did you mean 'port'?
                    `- {host: 10.0.0.1, port: 80, weight: 0}` | :1:38: weight: expected a whole number from 1 to 1000000, not '0': remove the endpoint, or take it out of service with 'gateway drain'
                    `- {srv: _http._tcp.app.test}` | :1:9: a file of endpoints has no 'srv': name it in the upstream
                    `- {file: more.yaml}` | :1:10: a file of endpoints names no other: name it in the upstream
                    """)
    void aMistakeIsToldWithItsPlace(String text, String problem) throws IOException {
        Path file = write(text);
        assertThatThrownBy(() -> EndpointFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessage(file + problem);
    }

    @Test
    void ofSeveralMistakesTheFirstIsTold() throws IOException {
        Path file = write("- {host: a b, port: 1}\n- {host: 10.0.0.1, port: 0}\n- {}\n");
        assertThatThrownBy(() -> EndpointFile.read(file))
                .hasMessageStartingWith(file + ":1:10: host: expected a host name or an IP address")
                .hasMessageEndingWith("; and 2 mistakes more");
    }

    @Test
    void aFileHasAThousandEndpointsAtMost() throws IOException {
        String one = "- {host: 10.0.0.1, port: 8080}\n";
        assertThat(read(one.repeat(EndpointFile.MOST))).hasSize(1000);
        Path file = write(one.repeat(EndpointFile.MOST + 1));
        assertThatThrownBy(() -> EndpointFile.read(file))
                .hasMessage(file + ":1001:3: more than 1000 endpoints in one file");
    }

    @Test
    void aFileHasAMebibyteAtMost() throws IOException {
        Path file = write("[]" + " ".repeat(1 << 20));
        assertThatThrownBy(() -> EndpointFile.read(file)).hasMessage(file + " is larger than 1 MiB");
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Path file = directory.resolve("none.yaml");
        assertThatThrownBy(() -> EndpointFile.read(file)).hasMessage("there is no file " + file);
    }
}
