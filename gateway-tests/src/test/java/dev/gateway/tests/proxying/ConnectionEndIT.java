package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the gateway ends connections of clients: so that nothing is lost that they send, or that was sent to them. */
@Tag("jar")
@Timeout(60)
class ConnectionEndIT {
    private static final int DATA = 0;
    private static final int WINDOW_UPDATE = 8;
    private static final int LARGE = 1 << 20;
    private static final int PING = 6;
    private static final int GOAWAY = 7;

    private static Origin app;
    private static GatewayJar brief; // for connections of HTTP/2, which end soon

    @BeforeAll
    static void start() throws IOException {
        app = Origin.start().otherwise(Behaviors.text("x".repeat(LARGE)));
        brief = gateway(app, "limits: {maxBody: 1KiB}, timeouts: {maxConnectionAge: 300ms}");
    }

    @AfterAll
    static void stop() throws IOException {
        app.close();
        if (brief != null) { // or it has not started
            brief.close();
        }
    }

    private static GatewayJar gateway(Origin origin, String listener) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP, %s}]
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(listener, origin.port()))
                .start();
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed after " + head);
            }
            head.append((char) b);
        }
        return head.toString();
    }

    @Test
    void anOldConnectionOfHttp1EndsWithTheNextAnswer() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = gateway(origin, "timeouts: {maxConnectionAge: 2s}");
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"))) {
            byte[] request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            InputStream in = socket.getInputStream();
            socket.getOutputStream().write(request);
            head(in);
            in.readNBytes(2);
            socket.setSoTimeout(2_500);
            assertThatThrownBy(in::read)
                    .as("it is not closed between requests")
                    .isInstanceOf(SocketTimeoutException.class);
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request);
            assertThat(head(in)).startsWith("HTTP/1.1 200").containsIgnoringCase("connection: close");
            assertThat(in.readAllBytes()).asString(StandardCharsets.US_ASCII).isEqualTo("ok");
        }
    }

    private static byte[] frame(int type, int flags, int stream, int length) {
        byte[] frame = new byte[9 + length];
        frame[1] = (byte) (length >> 8);
        frame[2] = (byte) length;
        frame[3] = (byte) type;
        frame[4] = (byte) flags;
        frame[8] = (byte) stream;
        return frame;
    }

    private static byte[] post() {
        byte[] block = {(byte) 0x83, (byte) 0x86, (byte) 0x84, 0x41, 1, 'a'}; // POST, http, /, and the authority
        byte[] frame = frame(1, 4, 1, block.length);
        System.arraycopy(block, 0, frame, 9, block.length);
        return frame;
    }

    /** Reads frames, and answers PINGs, until there has been a number of GOAWAYs. */
    private static void awaitGoAways(int count, DataInputStream in, OutputStream out) throws IOException {
        for (int seen = 0; seen < count; ) {
            int word = in.readInt();
            int flags = in.readUnsignedByte();
            in.readInt();
            byte[] payload = in.readNBytes(word >>> 8);
            int type = word & 0xff;
            seen += type == GOAWAY ? 1 : 0;
            if (type == PING && (flags & 1) == 0) {
                byte[] ack = frame(PING, 1, 0, 8);
                System.arraycopy(payload, 0, ack, 9, 8);
                out.write(ack);
            }
        }
    }

    /** The last stream is refused for its body, of which more is on its way. */
    @Test
    @SuppressWarnings("try") // the socket is closed early, so that the sender ends
    void aConnectionOfHttp2EndsSoThatItsLastAnswerCanBeRead() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), brief.port("web"))) {
            OutputStream out = socket.getOutputStream();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.write(frame(4, 0, 0, 0));
            out.write(post());
            awaitGoAways(2, in, out);
            Thread sender = new Thread(() -> send(out), "sender");
            sender.start();
            assertThat(in.readAllBytes())
                    .as("the answer, then FIN and no reset")
                    .isNotEmpty();
            socket.close();
            sender.join();
        }
    }

    /** The client sends WINDOW_UPDATE while it reads what the gateway has sent long ago. */
    @Test
    void aConnectionOfHttp2EndsSoThatALargeResponseCanBeRead() throws Exception {
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(16_384);
            socket.setSoTimeout(20_000);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), brief.port("web")));
            OutputStream out = socket.getOutputStream();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            byte[] settings = frame(4, 0, 0, 6);
            settings[10] = 4; // the window of a stream
            settings[12] = LARGE >> 16;
            out.write(settings);
            byte[] window = frame(WINDOW_UPDATE, 0, 0, 4);
            window[10] = LARGE >> 16;
            out.write(window);
            out.write(post());
            awaitGoAways(2, in, out);
            out.write(frame(DATA, 1, 1, 0));
            int body = 0;
            for (boolean ended = false; !ended; ) {
                int word = in.readInt();
                int flags = in.readUnsignedByte();
                in.skipNBytes(4 + (word >>> 8));
                if ((word & 0xff) == DATA) {
                    body += word >>> 8;
                    ended = (flags & 1) != 0;
                    out.write(window);
                }
            }
            assertThat(body).isEqualTo(LARGE);
            assertThat(in.read()).as("FIN").isNegative();
        }
    }

    /** Sends a body as fast as it is taken, which is more than anybody reads before the answer. */
    private static void send(OutputStream out) {
        byte[] frame = frame(DATA, 0, 1, 16_000);
        try {
            for (int sent = 0; sent < 4 << 20; sent += frame.length) {
                out.write(frame);
            }
        } catch (IOException e) {
            // the end
        }
    }
}
