package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.FailureText;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsQueryLifecycleObserverFactory;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A failure of a name says which name server has said what. */
@Timeout(60)
class PlainAgainTest {
    private static final int SILENT = -1;
    private static final int NO_RECORDS = 0;
    private static final int FORMAT_ERROR = 1;
    private static final int SERVER_FAILURE = 2;
    private static final int NO_SUCH_NAME = 3;
    private static final int REFUSED = 5;
    private static final int ADDITIONAL_COUNT = 10; // its position in a message
    private static final int SHORT = 100; // in milliseconds, for servers that never answer
    private static final int LONG = 10_000;

    private final Transport transport = Transport.start(TransportKind.NIO, 1);
    private final EventLoop loop = transport.loops().get(0);
    private final List<DatagramSocket> servers = new ArrayList<>();

    /** Starts a name server that has one answer, and another for those who do not use EDNS. */
    private InetSocketAddress server(int withEdns, int without) throws IOException {
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        servers.add(socket);
        Thread thread = new Thread(() -> serve(socket, withEdns, without), "name-server");
        thread.setDaemon(true);
        thread.start();
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort());
    }

    private static void serve(DatagramSocket socket, int withEdns, int without) {
        byte[] buffer = new byte[512];
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                ByteBuffer message = ByteBuffer.wrap(buffer);
                int code = message.getShort(ADDITIONAL_COUNT) > 0 ? withEdns : without;
                if (code != SILENT) {
                    int end = 12;
                    while (buffer[end] != 0) {
                        end += 1 + buffer[end];
                    }
                    message.putShort(2, (short) (0x8180 | code)).putShort(ADDITIONAL_COUNT, (short) 0);
                    socket.send(new DatagramPacket(buffer, end + 5, packet.getSocketAddress()));
                }
            }
        } catch (IOException e) {
            if (!socket.isClosed()) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private PlainAgain resolver(int timeoutMillis, InetSocketAddress... asked) {
        return new PlainAgain(loop, (edns, observers) -> builder(edns, observers, timeoutMillis, asked)
                .build());
    }

    private DnsNameResolverBuilder builder(
            boolean edns, DnsQueryLifecycleObserverFactory observers, int timeoutMillis, InetSocketAddress... asked) {
        return new DnsNameResolverBuilder(loop)
                .datagramChannelFactory(transport.datagramFactory())
                .nameServerProvider(new SequentialDnsServerAddressStreamProvider(asked))
                .queryTimeoutMillis(timeoutMillis)
                .optResourceEnabled(edns)
                .dnsQueryLifecycleObserverFactory(observers)
                .resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY);
    }

    private Throwable failure(Future<?> answer) throws Exception {
        assertThat(answer.await(20, TimeUnit.SECONDS)).isTrue();
        return answer.cause();
    }

    private String said(int timeoutMillis, InetSocketAddress... asked) throws Exception {
        try (PlainAgain resolver = resolver(timeoutMillis, asked)) {
            String text = FailureText.of(failure(resolver.resolveAll("app.test.")));
            String ofRecords =
                    FailureText.of(failure(resolver.records(new DefaultDnsQuestion("app.test.", DnsRecordType.SRV))));
            assertThat(ofRecords).isEqualTo(text.replace("A(1)", "SRV(33)"));
            return text;
        }
    }

    @AfterEach
    void stop() throws Exception {
        servers.forEach(DatagramSocket::close);
        transport.stop().sync();
    }

    @ParameterizedTest
    @CsvSource({
        NO_SUCH_NAME + ", answered that there is no such name (NXDOMAIN)",
        SERVER_FAILURE + ", answered ServFail(2)",
        REFUSED + ", answered Refused(5)",
        NO_RECORDS + ", answered that the name has no such records",
        SILENT + ", did not answer in time",
    })
    void theServerIsToldWithItsAnswer(int code, String said) throws Exception {
        InetSocketAddress server = server(code, SILENT);
        assertThat(said(code == SILENT ? SHORT : LONG, server))
                .startsWith("Failed to resolve 'app.test.' [A(1)]")
                .endsWith(": 127.0.0.1:" + server.getPort() + " " + said);
    }

    @Test
    void ofSeveralServersTheLastOneIsTold() throws Exception {
        InetSocketAddress first = server(REFUSED, SILENT);
        InetSocketAddress second = server(NO_SUCH_NAME, SILENT);
        assertThat(said(LONG, first, second))
                .endsWith(": 127.0.0.1:" + second.getPort() + " answered that there is no such name (NXDOMAIN)");
        assertThat(said(LONG, second, first)).endsWith(": 127.0.0.1:" + first.getPort() + " answered Refused(5)");
    }

    @Test
    void aServerThatDoesNotKnowEdnsIsToldWithItsSecondAnswer() throws Exception {
        InetSocketAddress server = server(FORMAT_ERROR, SERVER_FAILURE);
        assertThat(said(LONG, server)).endsWith(": 127.0.0.1:" + server.getPort() + " answered ServFail(2)");
    }

    /** The one before it, which has answered, has nothing to do with it. */
    @Test
    void aQuestionThatNoSocketCanAskNamesNoServer() throws Exception {
        InetSocketAddress server = server(FORMAT_ERROR, SILENT);
        InetSocketAddress foreign = new InetSocketAddress("192.0.2.1", 0); // of no interface here
        PlainAgain.Maker maker = (edns, observers) -> builder(edns, observers, LONG, server)
                .localAddress(edns ? null : foreign)
                .build();
        try (PlainAgain resolver = new PlainAgain(loop, maker)) {
            assertThat(FailureText.of(failure(resolver.resolveAll("app.test."))))
                    .doesNotContain(":" + server.getPort())
                    .endsWith(": Cannot assign requested address");
        }
    }

    @Test
    void anOutageIsStillKnownAsOne() throws Exception {
        try (PlainAgain resolver = resolver(SHORT, server(SILENT, SILENT));
                PlainAgain other = resolver(LONG, server(SERVER_FAILURE, SILENT));
                PlainAgain sure = resolver(LONG, server(NO_SUCH_NAME, SILENT))) {
            assertThat(Outages.isOne(failure(resolver.resolveAll("app.test.")))).isTrue();
            assertThat(Outages.isOne(failure(other.resolveAll("app.test.")))).isTrue();
            assertThat(Outages.isOne(failure(sure.resolveAll("app.test.")))).isFalse();
        }
    }
}
