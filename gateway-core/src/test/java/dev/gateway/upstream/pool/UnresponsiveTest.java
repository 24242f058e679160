package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests hear that their endpoint was found not to answer, whatever protocol it speaks, and only those. */
class UnresponsiveTest extends PoolFixture {
    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void whoWaitsThereIsTold(Protocol protocol) throws Exception {
        settings.protocol = protocol;
        boolean http2 = protocol == Protocol.H2C;
        FakeUpstream first = origin(http2, 100, null);
        FakeUpstream second = origin(http2, 100, null);
        List<Endpoint> endpoints =
                List.of(new Endpoint(0, "127.0.0.1", first.port(), 1), new Endpoint(1, "127.0.0.1", second.port(), 1));
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        List<Runnable> answers =
                new ArrayList<>(); // one after the other, so that the first one has the first connection
        Reply one = get("/hold");
        answers.add(heldBy(first));
        Reply two = get(1, "/hold"); // on another event loop
        answers.add(heldBy(first));
        Reply elsewhere = Reply.get(pools.opener(0), transport.loops().get(0), upstream, endpoints.get(1), "/hold");
        answers.add(heldBy(second));
        upstream.health().onChecked(endpoints.get(0), "no answer", true);
        assertThat(one.unresponsive()).isEqualTo("no answer");
        assertThat(two.unresponsive()).isEqualTo("no answer");
        counted(); // what else ran on the loops has ended
        assertThat(elsewhere.isToldUnresponsive()).isFalse();
        answers.forEach(Runnable::run);
        assertThat(one.connection()).as("it is still open").isEqualTo(1);
        two.connection();
        elsewhere.connection();
    }

    /** It has sent its SETTINGS, and then nothing any more. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anEndpointThatAnswersNoPingIsEjectedUnlessItAnswersElsewhere(boolean elsewhere) throws Exception {
        settings.protocol = Protocol.H2C;
        try (ServerSocket gone = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            FakeUpstream other = http2(100);
            List<Endpoint> endpoints = List.of(
                    new Endpoint(0, "127.0.0.1", gone.getLocalPort(), 1),
                    new Endpoint(1, "127.0.0.1", other.port(), 1));
            OutlierDetection outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 60_000, 60_000, 100);
            upstreamOf(new Health(endpoints, RoundRobin::new, outliers, null, System::nanoTime));
            Reply waits = get("/");
            try (Socket connection = gone.accept()) {
                connection.getOutputStream().write(SETTINGS);
                while (!waits.isToldUnresponsive()) {
                    ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
                    if (elsewhere) {
                        upstream.hosts().get(0).onHeard(System.nanoTime() + ahead.get());
                    }
                    counted(); // by each loop
                }
                assertThat(waits.unresponsive()).isEqualTo("a PING was not answered in 5 s");
                assertThat(upstream.health().report(endpoints.get(0)).state())
                        .isEqualTo(elsewhere ? Health.State.HEALTHY : Health.State.EJECTED);
                assertThat(waits.isDone()).as("what cannot be repeated stays").isFalse();
                waits.cancel();
            }
        }
    }

    /** What was idle for as long as the silence would be tried in vain by later requests, on each event loop. */
    @Test
    void idleConnectionsToAnEndpointThatIsGoneAreClosed() throws Exception {
        settings.protocol = Protocol.H2C;
        try (ServerSocket gone = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            List<Endpoint> endpoints = List.of(new Endpoint(0, "127.0.0.1", gone.getLocalPort(), 1));
            upstreamOf(new Health(endpoints, RoundRobin::new, null, null, System::nanoTime));
            Reply served = get(1, "/");
            try (Socket idle = gone.accept()) {
                idle.getOutputStream().write(SETTINGS);
                byte stream = awaitHeaders(idle);
                idle.getOutputStream().write(new byte[] {0, 0, 1, 1, 5, 0, 0, 0, stream, (byte) 0x88}); // 200
                assertThat(served.connection())
                        .as("its number, which it does not tell")
                        .isZero();
                Reply waits = get("/");
                try (Socket silent = gone.accept()) {
                    silent.getOutputStream().write(SETTINGS);
                    while (!waits.isToldUnresponsive()) {
                        ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
                        counted(); // by each loop
                    }
                    idle.setSoTimeout(10_000);
                    assertThat(idle.getInputStream().readAllBytes()).isNotEmpty(); // GOAWAY, and then the end
                    waits.cancel();
                }
            }
        }
    }

    /** Waits for a request, and returns the number of its stream. */
    private static byte awaitHeaders(Socket connection) throws IOException {
        DataInputStream in = new DataInputStream(connection.getInputStream());
        in.readNBytes(24); // the preface
        while (true) {
            int lengthAndType = in.readInt();
            in.readByte();
            int stream = in.readInt();
            in.readNBytes(lengthAndType >>> 8);
            if ((lengthAndType & 0xff) == 1) {
                return (byte) stream;
            }
        }
    }

    /** As when they go to another endpoint, each in the middle of the telling. */
    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void allAreToldThoughEachEndsItsStreamWhenItIs(Protocol protocol) throws Exception {
        settings.protocol = protocol;
        FakeUpstream origin = origin(protocol == Protocol.H2C, 100, null);
        to(origin);
        Reply[] replies = new Reply[5];
        for (int i = 0; i < replies.length; i++) {
            replies[i] = get("/hold");
            heldBy(origin);
            replies[i].resetsWhenUnresponsive = true;
        }
        upstream.health().onChecked(upstream.endpoints().get(0), "refused", true);
        for (Reply each : replies) {
            assertThat(each.unresponsive()).isEqualTo("refused");
        }
        get("/").connection();
    }
}
