package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.protocol.tcp.TcpServerSettings;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections whose bytes are passed on; the exchange here sends them back. */
@Timeout(60)
class PassedOnTest {
    private final Transport transport = Transport.start(TransportKind.EPOLL, 1);
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private @Nullable Listener listener;
    private int status = 200;

    @AfterEach
    void stop() throws Exception {
        if (listener != null) {
            listener.stopAccepting();
            listener.closeConnections();
        }
        transport.stop().sync();
    }

    @Test
    void aConnectionIsATunnelToTheAddressItCameTo() throws Exception {
        try (Socket client = connect(false, 0)) {
            awaitEvent("CONNECT 127.0.0.1:" + client.getPort());
            byte[] bytes = {1, 2, 3};
            client.getOutputStream().write(bytes);
            assertThat(client.getInputStream().readNBytes(3)).isEqualTo(bytes);
            client.shutdownOutput();
            assertThat(client.getInputStream().read()).isEqualTo(-1);
            awaitEvent("end");
        }
        awaitEvent("closed TCP");
    }

    @Test
    void aTlsConnectionIsATunnelToTheNameItAsksFor() throws Exception {
        byte[] hello = hello("Shop.Example.com");
        try (Socket client = connect(true, 0)) {
            for (int at = 0; at < hello.length; at += 20) {
                client.getOutputStream().write(hello, at, Math.min(20, hello.length - at));
            }
            awaitEvent("CONNECT shop.example.com:" + client.getPort());
            assertThat(client.getInputStream().readNBytes(hello.length)).isEqualTo(hello);
            client.getOutputStream().write(7);
            assertThat(client.getInputStream().read()).isEqualTo(7);
        }
        awaitEvent("closed TCP");
    }

    @Test
    void aTlsConnectionWithoutANameIsATunnelToTheAddressItCameTo() throws Exception {
        byte[] hello = hello(null);
        try (Socket client = connect(true, 0)) {
            client.getOutputStream().write(hello);
            awaitEvent("CONNECT 127.0.0.1:" + client.getPort());
        }
    }

    @Test
    void aTlsClientIsToldThatItsNameIsUnknown() throws Exception {
        status = 404;
        try (Socket client = connect(true, 0)) {
            client.getOutputStream().write(hello("nowhere.test"));
            assertThat(client.getInputStream().readAllBytes()).containsExactly(21, 3, 1, 0, 2, 2, 112);
        }
        awaitEvent("closed TCP");
    }

    @Test
    void aTlsClientIsToldThatThereIsNoUpstream() throws Exception {
        status = 503;
        try (Socket client = connect(true, 0)) {
            client.getOutputStream().write(hello("shop.test"));
            assertThat(client.getInputStream().readAllBytes()).containsExactly(21, 3, 1, 0, 2, 2, 80);
        }
    }

    @Test
    void aTcpClientIsRefusedByAReset() throws Exception {
        status = 503;
        try (Socket client = connect(false, 0)) {
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
        awaitEvent("closed TCP");
    }

    /** Others might read it as shop.test, which may have rules of its own. */
    @Test
    void aNameWithAnEmptyLabelIsRefused() throws Exception {
        byte[] hello = hello("shop--test");
        for (int i = 0; i < hello.length - 1; i++) {
            if (hello[i] == '-' && hello[i + 1] == '-') {
                hello[i] = '.';
                hello[i + 1] = '.';
            }
        }
        try (Socket client = connect(true, 0)) {
            client.getOutputStream().write(hello);
            assertThat(client.getInputStream().readAllBytes()).startsWith(21, 3, 1);
        }
        awaitEvent("refused CLIENT_PROTOCOL_ERROR");
    }

    @Test
    void whatIsNotTlsIsRefused() throws Exception {
        try (Socket client = connect(true, 0)) {
            client.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().readAllBytes()).startsWith(21, 3, 1);
        }
        awaitEvent("refused CLIENT_PROTOCOL_ERROR");
    }

    @Test
    void aClientHelloDoesNotTakeForEver() throws Exception {
        try (Socket client = connect(true, 50)) {
            client.getOutputStream().write(hello("shop.test"), 0, 10);
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
        awaitEvent("violation slow_hello");
    }

    @Test
    void aTunnelIsToldThatItsListenerDrains() throws Exception {
        try (Socket client = connect(false, 0)) {
            client.getOutputStream().write(1);
            assertThat(client.getInputStream().read()).isEqualTo(1);
            assertThat(Objects.requireNonNull(listener).drain()).isNotDone();
            awaitEvent("draining");
        }
    }

    private Socket connect(boolean tls, long helloMillis) throws IOException {
        EventLoop loop = transport.loops().get(0);
        Http1ServerSettings unused = new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false);
        ListenerSettings settings = new ListenerSettings(
                0,
                "db",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(0, 0),
                null,
                null,
                new ListenerSettings.Protocols(unused, null, false, new TcpServerSettings(tls, helloMillis)));
        listener = Listener.bind(
                transport, List.of(new ListenerLoop(loop, new TimerWheel(loop), new Core(), new Recorder())), settings);
        listener.accept();
        Socket socket = new Socket();
        socket.setSoTimeout(20_000);
        socket.connect(listener.address());
        return socket;
    }

    private static byte[] hello(@Nullable String name) throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        if (name != null) {
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setServerNames(List.of(new SNIHostName(name)));
            engine.setSSLParameters(parameters);
        }
        ByteBuffer out = ByteBuffer.allocate(20_000);
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    private void awaitEvent(String wanted) throws InterruptedException {
        String event;
        do {
            event = events.poll(20, TimeUnit.SECONDS);
            assertThat(event).as("before %s", wanted).isNotNull();
        } while (!wanted.equals(event));
    }

    private final class Core implements RequestHandler {
        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            events.add(head.method() + " " + head.authority());
            stream.head(new ResponseHead(status, null, new Fields(), -1), status != 200);
            stream.flush();
            return new Echo(stream);
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            events.add("refused " + failure.cause());
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 2), false);
            stream.data(Buffers.of(new byte[2]), true);
            stream.flush();
        }
    }

    private final class Echo implements StreamEvents {
        private final ServerStream stream;

        Echo(ServerStream stream) {
            this.stream = stream;
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            if (last) {
                events.add("end");
            }
            int length = data.readableBytes();
            stream.data(data, last);
            stream.consumed(length);
        }

        @Override
        public void onTrailers(Fields trailers) {}

        @Override
        public void onWritable() {}

        @Override
        public void onReadComplete() {
            stream.flush();
        }

        @Override
        public void onDraining() {
            events.add("draining");
        }

        @Override
        public void onReset(Failure failure) {
            events.add("reset " + failure.cause());
        }
    }

    private final class Recorder implements ConnectionObserver {
        @Override
        public void onClosed(HttpVersion version, boolean tls) {
            events.add("closed " + version);
        }

        @Override
        public void onViolation(String kind) {
            events.add("violation " + kind);
        }
    }
}
