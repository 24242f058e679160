package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What clients make the process hold on its heap ends neither the process nor what others get of it. */
@Tag("alone")
@Tag("jar")
@Timeout(120)
@Tag("platform")
class HeapIT {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int ENHANCE_YOUR_CALM = 11;
    private static final int VALUE = 3800;

    /** A neighbor's request is shorter, and what it is beside is longer. */
    private static final int REQUEST = 1000;

    private final List<Socket> sockets = new ArrayList<>();
    private Origin origin;
    private ServerSocket paused; // the kernel accepts, and nobody answers

    @BeforeEach
    void startUpstreams() throws IOException {
        origin = Origin.start().on("/", Behaviors.text("ok"));
        paused = new ServerSocket(0, 4096, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void closeAll() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        paused.close();
        origin.close();
    }

    private GatewayJar start(String heap) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes:
                          - rules:
                              - {matches: [{path: {type: PathPrefix, value: /hang}}], backendRefs: [{name: hang}]}
                              - {matches: [{path: {type: Exact, value: /}}], backendRefs: [{name: app}]}
                              - {matches: [{path: {type: Exact, value: /full}}], backendRefs: [{name: full}]}
                        upstreams:
                          - {name: app, endpoints: [{host: 127.0.0.1, port: %d}]}
                          - {name: hang, endpoints: [{host: 127.0.0.1, port: %d}]}
                          - name: full
                            endpoints: [{host: 127.0.0.1, port: %d}]
                            circuitBreaker: {maxConnections: 1, maxPendingRequests: 5000}
                            timeouts: {poolAcquire: 1m}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port(), paused.getLocalPort(), paused.getLocalPort()))
                .heap(heap)
                .jvm("-XX:NewSize=8m") // as in the image
                .jvm("-XX:SurvivorRatio=2")
                .start();
    }

    /** A client that was there before the others, and wants little. */
    private static final class Neighbor implements AutoCloseable {
        private final GatewayJar gateway;
        private Peer peer;

        Neighbor(GatewayJar gateway) throws Exception {
            this.gateway = gateway;
            peer = Peers.HTTP1.connect(gateway.port("web"));
            ask();
        }

        /** Asks again on a new connection if this one was idle for long, which it is on a busy machine, and gave way. */
        void ask() throws Exception {
            try {
                askOnce();
            } catch (EOFException | SocketException e) {
                peer.close();
                peer = Peers.HTTP1.connect(gateway.port("web"));
                askOnce();
            }
        }

        private void askOnce() throws Exception {
            PeerStream stream = peer.open();
            stream.send(Head.request("GET", "/"), true);
            int status = stream.receiveFinal().status();
            String body = stream.receiveBody();
            assertThat(status).as(() -> body + gateway.log()).isEqualTo(200);
            assertThat(body).isEqualTo("ok");
        }

        @Override
        public void close() throws IOException {
            peer.close();
        }
    }

    private Socket connect(GatewayJar gateway) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port("web")), 20_000);
        return socket;
    }

    /** Writes as much as the gateway takes: it may have closed the connection, or the process may have ended. */
    private static void send(Socket socket, byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            // refused
        }
    }

    /** Waits until the gateway has read what it was sent, as far as it wants to. */
    private static void settle(GatewayJar gateway) throws Exception {
        double before;
        double received = -1;
        do {
            before = received;
            received = gateway.metric("gateway_downstream_received_bytes_total");
        } while (received != before);
    }

    /** The same while a neighbor asks, so that it is never idle for long and does not give way. */
    private static void settle(GatewayJar gateway, Neighbor neighbor) throws Exception {
        double before;
        double received = -REQUEST;
        do {
            neighbor.ask();
            before = received;
            received = gateway.metric("gateway_downstream_received_bytes_total");
        } while (received >= before + REQUEST);
    }

    /** Ends what the others do, and waits until a new client is served again, by nothing else. */
    private void assertThatItRecovers(GatewayJar gateway) throws Exception {
        for (Socket socket : sockets) {
            socket.close();
        }
        gateway.await("a new client is served", () -> {
            try (Neighbor fresh = new Neighbor(gateway)) {
                fresh.ask();
                return true;
            } catch (Exception | AssertionError e) {
                return false;
            }
        });
        assertThat(gateway.isAlive()).isTrue();
    }

    @Test
    void requestsThatWaitForAPausedUpstreamAreBounded() throws Exception {
        try (GatewayJar gateway = start("32m");
                Neighbor neighbor = new Neighbor(gateway)) {
            byte[] request = ("GET /hang HTTP/1.1\r\nHost: x.test\r\nCookie: " + "c".repeat(25_000) + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_200; i++) {
                send(connect(gateway), request);
                if (i % 10 == 0) { // so that it never is idle for long and gives way
                    neighbor.ask();
                }
            }
            settle(gateway, neighbor);
            neighbor.ask();
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            double refused = gateway.metric("gateway_downstream_requests_total", "cause=\"overload\"");
            double shed = gateway.metric("gateway_downstream_connections_shed_total");
            assertThat(refused + shed).isPositive();
            assertThatItRecovers(gateway);
        }
    }

    @Test
    void headsOfWhichNotAllComesAreBounded() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            byte[] head = ("GET / HTTP/1.1\r\nHost: x.test\r\nCookie: " + "c".repeat(31_000))
                    .getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_800; i++) {
                send(connect(gateway), head);
                if (i % 10 == 0) { // so that it never is idle for long and gives way
                    neighbor.ask();
                }
            }
            settle(gateway, neighbor);
            neighbor.ask();
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            assertThatItRecovers(gateway);
        }
    }

    @Test
    void trailersOfWhichNotAllComesAreBounded() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            byte[] head = ("POST /hang HTTP/1.1\r\nHost: x.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
                            + "c".repeat(31_000))
                    .getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_800; i++) {
                send(connect(gateway), head);
                if (i % 10 == 0) { // so that it never is idle for long and gives way
                    neighbor.ask();
                }
            }
            settle(gateway, neighbor);
            neighbor.ask();
            assertThatItRecovers(gateway);
        }
    }

    @Test
    void connectionsThatAreIdleDoNotKeepTheHeadOfTheirLastRequest() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            byte[] request = ("GET /none HTTP/1.1\r\nHost: x.test\r\nCookie: " + "c".repeat(31_000) + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_800; i++) {
                Socket socket = connect(gateway);
                send(socket, request);
                socket.getInputStream().read(); // it is answered, or refused
            }
            neighbor.ask();
            assertThat(gateway.metric("gateway_downstream_requests_total", "code=\"404\""))
                    .isGreaterThan(1_000);
        }
    }

    // ---- HTTP/2

    private Socket connectHttp2(GatewayJar gateway) throws IOException {
        Socket socket = connect(gateway);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(PREFACE);
        out.writeBytes(frame(SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0})); // windows of nothing: no answer leaves
        send(socket, out.toByteArray());
        return socket;
    }

    private static byte[] frame(int type, int flags, int stream, byte[] payload) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(payload.length >> 16);
        out.write(payload.length >> 8);
        out.write(payload.length);
        out.write(type);
        out.write(flags);
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.write(stream >> shift);
        }
        out.writeBytes(payload);
        return out.toByteArray();
    }

    /** A request whose head has a field of 3,800 bytes a number of times, given as a reference to HPACK's table. */
    private static byte[] head(String path, boolean first, int references) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(new byte[] {(byte) 0x82, (byte) 0x86, 0x04, (byte) path.length()});
        block.writeBytes(path.getBytes(StandardCharsets.US_ASCII));
        block.writeBytes(new byte[] {0x01, 6});
        block.writeBytes("x.test".getBytes(StandardCharsets.US_ASCII));
        if (first) { // with incremental indexing: it becomes entry 62
            block.writeBytes(
                    new byte[] {0x40, 1, 'a', 0x7f, (byte) (0x80 | ((VALUE - 127) & 0x7f)), (byte) ((VALUE - 127) >> 7)
                    });
            block.writeBytes("v".repeat(VALUE).getBytes(StandardCharsets.US_ASCII));
        }
        for (int i = first ? 1 : 0; i < references; i++) {
            block.write(0xbe);
        }
        return block.toByteArray();
    }

    private static void openStreams(Socket socket, String path, int references) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < 255; i++) {
            out.writeBytes(frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, head(path, i == 0, references)));
        }
        send(socket, out.toByteArray());
    }

    @Test
    void headsThatUnpackToMuchMoreThanTheyAreDoNotEndTheProcess() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            for (int i = 0; i < 16; i++) {
                openStreams(connectHttp2(gateway), "/none", 8);
            }
            settle(gateway);
            neighbor.ask();
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            assertThatItRecovers(gateway);
        }
    }

    @Test
    void manyHeadsThatUnpackToALittleMoreAreBoundedWhileTheyWait() throws Exception {
        try (GatewayJar gateway = start("32m");
                Neighbor neighbor = new Neighbor(gateway)) {
            for (int i = 0; i < 60; i++) {
                openStreams(connectHttp2(gateway), "/hang", 1);
                if (i % 10 == 0) {
                    neighbor.ask();
                }
            }
            settle(gateway);
            neighbor.ask();
            assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"overload\""))
                    .isPositive();
            assertThatItRecovers(gateway);
        }
    }

    @Test
    void aClientThatSendsFieldsAThousandTimesOverIsAskedToEnhanceItsCalm() throws Exception {
        try (GatewayJar gateway = start("64m")) {
            Socket socket = connectHttp2(gateway);
            for (int i = 0; i < 40; i++) {
                send(socket, frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, head("/", i == 0, 10_000)));
            }
            assertThat(goAwayCode(socket)).isEqualTo(ENHANCE_YOUR_CALM);
        }
    }

    /** Returns the code of the GOAWAY that comes within some seconds, -1 if none does. */
    private static int goAwayCode(Socket socket) throws IOException {
        socket.setSoTimeout(5_000);
        InputStream in = socket.getInputStream();
        try {
            while (true) {
                byte[] header = in.readNBytes(9);
                if (header.length < 9) {
                    return -1;
                }
                int length = ((header[0] & 0xff) << 16) | ((header[1] & 0xff) << 8) | (header[2] & 0xff);
                byte[] payload = in.readNBytes(length);
                if (header[3] == GOAWAY && payload.length >= 8) {
                    return payload[7];
                }
            }
        } catch (IOException e) {
            return -1;
        }
    }

    /** So short that a window holds a thousand of them, for a request that waits for a connection. */
    @Test
    void bodiesThatWaitInManyPiecesDoNotEndTheProcess() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            for (int i = 0; i < 4; i++) {
                uploadsThatWait(connect(gateway), 32);
                neighbor.ask();
            }
            settle(gateway);
            neighbor.ask();
            assertThat(gateway.admin("/ready", Duration.ofSeconds(20)).statusCode())
                    .isEqualTo(200);
            assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"overload\""))
                    .isPositive();
            assertThatItRecovers(gateway);
        }
    }

    /** Their bytes are not on the heap, but in buffers. Clients fill those faster than anybody could review. */
    @Test
    void bodiesThatWaitDoNotUseUpAllBuffers() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            for (int i = 0; i < 16; i++) {
                uploadsThatWait(connect(gateway), 16 * 1024);
                neighbor.ask();
            }
            settle(gateway);
            neighbor.ask();
            assertThat(gateway.metric("gateway_downstream_requests_total", "cause=\"overload\""))
                    .isPositive();
            assertThat(gateway.metric("gateway_direct_memory_failures_total")).isZero();
            assertThatItRecovers(gateway);
        }
    }

    /** A piece that waits is a part of the buffer it was read in, most of which may be of no use to anybody. */
    @Test
    void bodiesOfWhichLittleWaitsDoNotKeepTheBuffersTheyCameIn() throws Exception {
        try (GatewayJar gateway = start("64m");
                Neighbor neighbor = new Neighbor(gateway)) {
            for (int i = 0; i < 16; i++) {
                littleThatWaitsAmongMuch(connect(gateway));
                neighbor.ask();
            }
            settle(gateway);
            neighbor.ask();
            assertThat(gateway.metric("gateway_direct_memory_failures_total")).isZero();
            assertThat(gateway.metric("gateway_direct_memory_cuts_total")).isZero();
            assertThatItRecovers(gateway);
        }
    }

    /** Opens 200 streams, each with one byte of a body among 64 KiB in a frame of a type that nobody knows. */
    private static void littleThatWaitsAmongMuch(Socket socket) {
        byte[] post = new byte[] {(byte) 0x83, (byte) 0x86, 0x04, 5, '/', 'f', 'u', 'l', 'l', 0x01, 1, 'x'};
        byte[] unknown = frame(0xbb, 0, 0, new byte[16 * 1024]);
        send(socket, PREFACE);
        send(socket, frame(SETTINGS, 0, 0, new byte[0]));
        for (int i = 0; i < 200; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(frame(HEADERS, END_HEADERS, 2 * i + 1, post));
            out.writeBytes(unknown);
            out.writeBytes(frame(DATA, 0, 2 * i + 1, new byte[1]));
            out.writeBytes(unknown);
            out.writeBytes(unknown);
            out.writeBytes(unknown);
            send(socket, out.toByteArray());
        }
    }

    /** Fills the windows of 250 streams. */
    private static void uploadsThatWait(Socket socket, int piece) {
        byte[] post = new byte[] {(byte) 0x83, (byte) 0x86, 0x04, 5, '/', 'f', 'u', 'l', 'l', 0x01, 1, 'x'};
        send(socket, PREFACE);
        send(socket, frame(SETTINGS, 0, 0, new byte[0]));
        for (int i = 0; i < 250; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(frame(HEADERS, END_HEADERS, 2 * i + 1, post));
            byte[] data = frame(DATA, 0, 2 * i + 1, new byte[piece]);
            for (int sent = 0; sent + piece <= 65_535; sent += piece) {
                out.writeBytes(data);
            }
            send(socket, out.toByteArray());
        }
    }

    // ---- interim responses

    @Test
    void anUpstreamsHintsToAClientThatDoesNotReadAreDropped() throws Exception {
        String hint = "HTTP/1.1 103 Early Hints\r\nLink: <" + "l".repeat(30_000) + ">\r\n\r\n";
        try (GatewayJar gateway = start("64m")) {
            Socket client = connect(gateway);
            send(client, "GET /hang HTTP/1.1\r\nHost: x.test\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            int hints;
            try (Socket upstream = paused.accept()) {
                upstream.getOutputStream().write(hint.repeat(90).getBytes(StandardCharsets.US_ASCII));
                upstream.getOutputStream()
                        .write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nend"
                                .getBytes(StandardCharsets.US_ASCII));
                client.setSoTimeout(20_000);
                hints = hintsBefore(client.getInputStream(), "end");
            }
            assertThat(hints).isBetween(0, 8);
        }
    }

    private static int hintsBefore(InputStream in, String end) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[64 * 1024];
        while (!all.toString(StandardCharsets.US_ASCII).endsWith(end)) {
            int length = in.read(part);
            if (length < 0) {
                throw new IOException("closed before the end of the response");
            }
            all.write(part, 0, length);
        }
        return all.toString(StandardCharsets.US_ASCII).split(" 103 ", -1).length - 1;
    }
}
