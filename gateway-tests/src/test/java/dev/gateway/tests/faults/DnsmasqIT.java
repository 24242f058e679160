package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints come from a name server of others (dnsmasq), which changes under load, dies and comes back. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class DnsmasqIT {
    @TempDir
    Path directory;

    /** A name server that reads its addresses from a file like {@code /etc/hosts}. */
    private static final class Dnsmasq implements AutoCloseable {
        private final String program = Tools.find("dnsmasq");
        private final int port;
        private final Path hosts;
        private final String service;
        private Process process;

        /**
         * Starts it.
         *
         * @param service an SRV record: name, target, port, priority and weight, with commas
         */
        Dnsmasq(Path directory, String service) throws IOException {
            this.port = Tools.freePort();
            this.hosts = Files.createFile(directory.resolve("hosts"));
            this.service = service;
            this.process = start();
        }

        private Process start() throws IOException {
            Process started = new ProcessBuilder(List.of(
                            program,
                            "--keep-in-foreground",
                            "--conf-file=/dev/null",
                            "--user=root",
                            "--pid-file=",
                            "--no-resolv",
                            "--no-hosts",
                            "--no-negcache",
                            "--listen-address=127.0.0.1",
                            "--bind-interfaces",
                            "--port=" + port,
                            "--addn-hosts=" + hosts,
                            "--local=/test/",
                            "--local-ttl=1",
                            "--srv-host=" + service))
                    .redirectErrorStream(true)
                    .redirectOutput(hosts.resolveSibling("log").toFile())
                    .start();
            assertThat(Tools.awaitListening(port, started)).isTrue();
            return started;
        }

        void has(String name, List<String> addresses) throws Exception {
            List<String> lines = new ArrayList<>();
            addresses.forEach(address -> lines.add(address + " " + name));
            Files.write(hosts, lines);
            Tools.signal("HUP", process.pid());
        }

        void die() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }

        void comeBack() throws IOException {
            process = start();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static List<String> addresses(int first, int count) {
        return IntStream.range(first, first + count)
                .mapToObj(i -> "127.0.4." + i)
                .toList();
    }

    private static List<String> at(List<String> addresses, int port) {
        return addresses.stream().map(each -> each + ":" + port).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{dns: app.test, port: %d}", "{host: app.test, port: %d}", "{srv: _http._tcp.shop.test}"})
    void endpointsFollowTheServerUnderLoad(String endpoint) throws Exception {
        try (Origin origin = Origin.startAt("0.0.0.0", 0).otherwise(Behaviors.text("ok"));
                Dnsmasq names = new Dnsmasq(directory, "_http._tcp.shop.test,app.test," + origin.port() + ",10,10")) {
            names.has("app.test", addresses(1, 3));
            try (Rig rig = Rig.start(
                            """
                            listeners:
                              - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                              - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                            routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                            upstreams: [{name: app, endpoints: [%s]}]
                            admin: {address: 127.0.0.1, port: 0}
                            accessLog: {format: "off"}
                            resolver: {nameServers: ["127.0.0.1:%d"]}
                            drain: {timeout: 2s}
                            """
                                    .formatted(endpoint.formatted(origin.port()), names.port));
                    SteadyLoad load = new SteadyLoad(rig)) {
                UpstreamPage.await(rig, at(addresses(1, 3), origin.port()));
                load.goOnFor(50);
                names.has("app.test", addresses(3, 60)); // more than fit into a datagram of 512 bytes
                UpstreamPage.await(rig, at(addresses(3, 60), origin.port()));
                load.goOnFor(50);
                names.die();
                UpstreamPage.awaitSource(rig, "stale");
                load.goOnFor(50);
                names.comeBack();
                names.has("app.test", addresses(5, 2));
                UpstreamPage.awaitSource(rig, "fresh");
                UpstreamPage.await(rig, at(addresses(5, 2), origin.port()));
                load.goOnFor(50);
            }
        }
    }
}
