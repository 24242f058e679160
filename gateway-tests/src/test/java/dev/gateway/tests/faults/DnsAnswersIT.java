package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.LoggedLines;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.NameServer.Mood;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What name servers say of an upstream's name, in all the ways in which they say it. */
@Timeout(60)
class DnsAnswersIT {
    private static Rig start(NameServer names, String host, int port) throws IOException {
        return Rig.to(host, port)
                .top("resolver: {nameServers: [\"127.0.0.1:" + names.port() + "\"]}")
                .start();
    }

    private static Head ask(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head;
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "WELL")
    void aNameThatNobodyHasResolvedYetIs502(Mood mood) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names = new NameServer().answers("app.test", "127.0.0.1")) {
            names.be(mood);
            try (Rig rig = start(names, "app.test", origin.port());
                    Peer client = rig.connect(Peers.HTTP1)) {
                Head head = ask(client);
                assertThat(head.status()).isEqualTo(502);
                assertThat(head.get("proxy-status").orElseThrow()).contains("dns_failed");
                assertThat(rig.awaitAccessLog(1).get(0))
                        .contains("\"cause\":\"dns_failed\"", "app.test:" + origin.port())
                        .containsPattern(
                                "\"detail\":\"[^\"]*: 127\\.0\\.0\\.1:" + names.port() + " (answered|did not)");
                names.be(Mood.WELL);
                while (ask(client).status() != 200) {
                    // A failure is remembered for a moment; the test's timeout ends this.
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dns: app.test, port: 80 | NO_SUCH_NAME | answered that there is no such name (NXDOMAIN)",
                "srv: _http._tcp.app.test | SERVER_FAILURE | answered ServFail(2)"
            })
    void aFailureIsLoggedOnceWithTheServerAndItsAnswer(String endpoints, Mood mood, String said) throws Exception {
        try (NameServer names = new NameServer();
                LoggedLines log = LoggedLines.of("dev.gateway").unseen()) {
            names.be(mood);
            try (Rig rig = Rig.start(
                    """
                    listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{%s}]}]
                    admin: {address: 127.0.0.1, port: 0}
                    resolver: {nameServers: ["127.0.0.1:%d"]}
                    """
                            .formatted(endpoints, names.port()))) {
                while (warnings(log).isEmpty()) {
                    LockSupport.parkNanos(5_000_000); // the test's timeout ends this
                }
                int first = names.answered();
                while (names.answered() <= 2 * first) { // it is asked in vain again, and a third time
                    LockSupport.parkNanos(5_000_000);
                }
                String told = "127.0.0.1:" + names.port() + " " + said;
                assertThat(warnings(log)).hasSize(1).first().asString().contains(": " + told + "; ");
                assertThat(UpstreamPage.read(rig).at("/sources/0/problem").asText())
                        .endsWith(": " + told);
            }
        }
    }

    private static List<String> warnings(LoggedLines log) {
        return log.warnings().stream().filter(line -> line.contains("app.test")).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aliasesOfAliasesLeadToTheAddress(boolean inOneAnswer) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names = new NameServer()
                        .alias("app.test", "edge.app.test")
                        .alias("edge.app.test", "a-1.cloud.test")
                        .answers("a-1.cloud.test", "127.0.0.1")) {
            if (!inOneAnswer) {
                names.breaksChains();
            }
            try (Rig rig = start(names, "app.test", origin.port());
                    Peer client = rig.connect(Peers.HTTP1)) {
                assertThat(ask(client).status()).isEqualTo(200);
                if (inOneAnswer) {
                    assertThat(names.questions()).contains("app.test").doesNotContain("edge.app.test");
                } else {
                    assertThat(names.questions())
                            .containsExactlyInAnyOrder("app.test", "edge.app.test", "a-1.cloud.test");
                }
            }
        }
    }

    @Test
    void aliasesThatLeadRoundAre502() throws Exception {
        try (NameServer names = new NameServer()
                        .alias("a.test", "b.test")
                        .alias("b.test", "a.test")
                        .breaksChains();
                Rig rig = start(names, "a.test", 80);
                Peer client = rig.connect(Peers.HTTP1)) {
            Head head = ask(client);
            assertThat(head.status()).isEqualTo(502);
            assertThat(head.get("proxy-status").orElseThrow()).contains("dns_failed");
        }
    }

    @Test
    void whatIsTooLongForADatagramIsAskedForByTcp() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names =
                        new NameServer().answers("app.test", "127.0.0.1").truncates("app.test");
                Rig rig = start(names, "app.test", origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(ask(client).status()).isEqualTo(200);
            assertThat(names.questionsOverTcp()).isPositive();
        }
    }

    @Test
    void aServerThatDoesNotKnowEdnsIsAskedWithoutIt() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                NameServer names =
                        new NameServer().answers("app.test", "127.0.0.1").knowsNoExtensions();
                Rig rig = start(names, "app.test", origin.port());
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(ask(client).status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource
    void newConnectionsGoToTheNewAddressAndRunningRequestsStay(Pairing pairing) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin former = Origin.start()
                        .on("/slow", (stream, head) -> {
                            stream.send(Head.response(200), false);
                            arrived.countDown();
                            goOn.await();
                            stream.send("to the end", true);
                        })
                        .on("/", Behaviors.text("former"));
                Origin present = Origin.startAt("127.0.0.2", former.port()).on("/", Behaviors.text("present"));
                NameServer names = new NameServer().answers("app.test", "127.0.0.1");
                Rig rig = Rig.to("app.test", former.port())
                        .upstreamProtocol(pairing.upstream)
                        .upstream("timeouts: {idle: 100ms, maxLifetime: 100ms}")
                        .top("workers: 1\nresolver: {nameServers: [\"127.0.0.1:" + names.port() + "\"]}")
                        .start();
                Peer running = rig.connect(pairing);
                Peer client = rig.connect(pairing)) {
            PeerStream slow = running.open();
            slow.send(Head.request("GET", "/slow"), true);
            assertThat(slow.receiveFinal().status()).isEqualTo(200);
            arrived.await();
            names.moves("app.test", "127.0.0.2");
            String answer = "former";
            while (answer.equals("former")) { // until the answer has expired; the test's timeout ends this
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                answer = stream.receiveBody();
            }
            assertThat(answer).isEqualTo("present");
            assertThat(present.requests("/")).isNotEmpty();
            goOn.countDown();
            assertThat(slow.receiveBody()).isEqualTo("to the end");
        }
    }
}
