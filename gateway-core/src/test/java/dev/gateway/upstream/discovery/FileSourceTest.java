package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which endpoints a file makes, and what becomes of them when it changes. */
class FileSourceTest {
    private final FakeDns dns = new FakeDns();
    private final List<List<EndpointSpec>> told = new ArrayList<>();

    @TempDir
    private Path directory;

    private Path file;
    private EndpointSource source;

    @BeforeEach
    void start() throws IOException {
        file = directory.resolve("endpoints.yaml");
        write("- {host: 10.0.0.1, port: 80, weight: 2, zone: a}\n- {host: 10.0.0.2, port: 80}\n");
        EndpointSources sources =
                new EndpointSources(BuiltInSources.IN_ORDER, dns, dns.channel.eventLoop(), dns.channel.eventLoop());
        source = sources.of(new FileSource.Listed(file));
    }

    @AfterEach
    void stop() {
        source.stop();
        dns.run();
        dns.channel.finishAndReleaseAll();
    }

    private void write(String text) throws IOException {
        Files.writeString(file, text);
    }

    private void rename(String text) throws IOException {
        Path next = Files.writeString(directory.resolve("next"), text);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Two looks: one finds a change, the next finds it complete. */
    private void look() {
        dns.pass(1000);
        dns.pass(1000);
    }

    private List<String> hosts() {
        return told.get(told.size() - 1).stream().map(EndpointSpec::host).toList();
    }

    @Test
    void endpointsAreToldAtOnce() {
        source.start((endpoints, provisional) -> told.add(endpoints));
        assertThat(told)
                .containsExactly(List.of(
                        new EndpointSpec("10.0.0.1", 80, 2, "10.0.0.1", "a", "file:" + file),
                        new EndpointSpec("10.0.0.2", 80, 1, "10.0.0.2", null, "file:" + file)));
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
    }

    @Test
    void aChangeIsReadWhenItIsComplete() throws IOException {
        source.start((endpoints, provisional) -> told.add(endpoints));
        write("- {host: 10.0.0.3, port: 80}\n");
        dns.pass(1000);
        assertThat(told).as("it may still be written").hasSize(1);
        dns.pass(1000);
        assertThat(hosts()).containsExactly("10.0.0.3");
        rename("[{\"host\": \"10.0.0.4\", \"port\": 80}]");
        look();
        assertThat(hosts()).containsExactly("10.0.0.4");
        look();
        assertThat(told).as("nothing new is not told").hasSize(3);
    }

    @Test
    void aMistakeChangesNothingAndIsToldWithItsPlace() throws IOException {
        source.start((endpoints, provisional) -> told.add(endpoints));
        write("- {host: 10.0.0.3, port: 80}\n- {host: 10.0.0.4, port: eighty}\n");
        look();
        assertThat(told).hasSize(1);
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.STALE);
        assertThat(source.status().problem()).startsWith(file + ":2:26: port: expected a whole number");
        write("- {host: 10.0.0.3, port: 80}\n");
        look();
        assertThat(hosts()).containsExactly("10.0.0.3");
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
    }

    @Test
    void aFileThatHasGoneChangesNothing() throws IOException {
        source.start((endpoints, provisional) -> told.add(endpoints));
        Files.delete(file);
        look();
        assertThat(told).hasSize(1);
        assertThat(source.status().problem()).isEqualTo("there is no file " + file);
        write("[]");
        look();
        assertThat(hosts()).as("an empty list is an answer").isEmpty();
        assertThat(source.status().isStale()).isFalse();
    }

    @Test
    void aReloadReadsAChangeAtOnce() throws IOException {
        source.start((endpoints, provisional) -> told.add(endpoints));
        rename("- {host: 10.0.0.3, port: 80}\n");
        source.refresh();
        assertThat(hosts()).containsExactly("10.0.0.3");
        source.refresh();
        assertThat(told).hasSize(2);
    }

    @Test
    void namesAreFollowedAsInTheConfiguration() throws IOException {
        dns.has("app.test", "192.0.2.1", "192.0.2.2");
        rename("- {host: app.test, port: 80, weight: 3}\n- {dns: app.test, port: 81, zone: b}\n");
        source.start((endpoints, provisional) -> told.add(endpoints));
        source.refresh();
        assertThat(hosts()).as("before DNS has answered").containsExactly("app.test", "app.test");
        dns.run();
        assertThat(told.get(told.size() - 1))
                .containsExactly(
                        new EndpointSpec("192.0.2.1", 80, 1.5, "app.test", null, "file:" + file),
                        new EndpointSpec("192.0.2.2", 80, 1.5, "app.test", null, "file:" + file),
                        new EndpointSpec("192.0.2.1", 81, 0.5, "app.test", "b", "file:" + file),
                        new EndpointSpec("192.0.2.2", 81, 0.5, "app.test", "b", "file:" + file));
        dns.beOut(true);
        dns.pass(33_000);
        assertThat(source.status().problem()).startsWith("dns:app.test: ");
        rename("- {host: 10.0.0.1, port: 80}\n");
        look();
        dns.run();
        assertThat(dns.isKept("app.test")).isFalse();
        assertThat(source.status().isStale()).isFalse();
    }

    @Test
    void aFileThatCannotBeUsedMakesNoSource() throws IOException {
        EndpointSources sources =
                new EndpointSources(BuiltInSources.IN_ORDER, dns, dns.channel.eventLoop(), dns.channel.eventLoop());
        Path bad = Files.writeString(directory.resolve("bad"), "- {host: 10.0.0.1}\n");
        assertThatThrownBy(() -> sources.of(new FileSource.Listed(bad))).hasMessageContaining(bad + ":1:10: ");
    }

    @Test
    void looksNoMoreOnceItIsStopped() throws IOException {
        source.start((endpoints, provisional) -> told.add(endpoints));
        source.stop();
        write("- {host: 10.0.0.3, port: 80}\n");
        look();
        assertThat(told).hasSize(1);
    }
}
