package dev.gateway.tests.peer;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/** How a stream becomes a tunnel: a WebSocket by RFC 6455 over HTTP/1.1 or RFC 8441 over HTTP/2, or by CONNECT. */
public final class Handshake {
    /** The setting by which a server offers extended CONNECT. */
    public static final int ENABLE_CONNECT_PROTOCOL = 8;

    private static final String KEY = "x3JJHMbDL1EzLkh9GBhXDw==";

    private Handshake() {}

    /** Asks for a WebSocket and returns the answer, after which the stream is a tunnel if it was a success. */
    public static Head ask(PeerStream stream, String path, String... fields) throws IOException {
        List<String> all = new ArrayList<>(List.of("Sec-WebSocket-Version", "13"));
        all.addAll(List.of(fields));
        boolean http2 = stream instanceof Http2Stream;
        if (http2) {
            if (((Http2Peer) stream.peer()).awaitSettings().getOrDefault(ENABLE_CONNECT_PROTOCOL, 0L) != 1) {
                throw new IOException("no extended CONNECT is offered");
            }
            all.addAll(0, List.of(":protocol", "websocket"));
        } else {
            all.addAll(List.of("Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Key", KEY));
        }
        stream.send(Head.request(http2 ? "CONNECT" : "GET", path, all.toArray(new String[0])), !http2);
        Head answer = stream.receiveHead();
        if (stream instanceof Http1Peer.Exchange http1 && answer.status() == 101) {
            if (!answer.all("Sec-WebSocket-Accept").equals(List.of(accept(KEY)))) {
                throw new IOException("not accepted: " + answer);
            }
            http1.becomeTunnel();
        }
        return answer;
    }

    /** Opens a WebSocket. */
    public static PeerStream open(Peer client, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        Head answer = ask(stream, path, fields);
        if (answer.status() != (stream instanceof Http2Stream ? 200 : 101)) {
            throw new IOException("refused: " + answer);
        }
        return stream;
    }

    /** Asks a proxy for a tunnel and returns the answer, after which the stream is one if it was a success. */
    public static Head askTunnel(PeerStream stream, String authority, String... fields) throws IOException {
        List<String> all = new ArrayList<>(List.of("Host", authority));
        all.addAll(List.of(fields));
        boolean http2 = stream instanceof Http2Stream;
        stream.send(Head.request("CONNECT", authority, all.toArray(new String[0])), !http2);
        Head answer = stream.receiveHead();
        if (stream instanceof Http1Peer.Exchange http1 && answer.status() == 200) {
            http1.becomeTunnel();
        }
        return answer;
    }

    /** Has a proxy connect to somewhere; what follows are bytes both ways. */
    public static PeerStream connect(Peer client, String authority, String... fields) throws IOException {
        PeerStream stream = client.open();
        Head answer = askTunnel(stream, authority, fields);
        if (answer.status() != 200) {
            throw new IOException("refused: " + answer);
        }
        return stream;
    }

    /** Takes a connection as one half of a tunnel, whatever is spoken on it. */
    public static PeerStream raw(Socket socket) throws IOException {
        Sockets.configure(socket);
        Http1Peer.Exchange stream =
                new Http1Peer(socket, new BufferedInputStream(socket.getInputStream(), 65536), false).open();
        stream.becomeTunnel();
        return stream;
    }

    /** Whether a request received is a proper handshake. */
    public static boolean isOne(PeerStream stream, Head request) {
        return stream instanceof Http2Stream
                ? request.method().equals("CONNECT")
                        && request.all(":protocol").equals(List.of("websocket"))
                        && request.all("Sec-WebSocket-Key").isEmpty()
                : request.method().equals("GET")
                        && request.all("Upgrade").equals(List.of("websocket"))
                        && request.get("Connection")
                                .orElse("")
                                .toLowerCase(Locale.ROOT)
                                .contains("upgrade")
                        && request.all("Sec-WebSocket-Key").size() == 1;
    }

    /** Accepts a handshake; the stream is a tunnel from then on. */
    public static void accept(PeerStream stream, Head request, String... fields) throws IOException {
        if (!isOne(stream, request)) {
            throw new IOException("not a handshake: " + request);
        }
        if (stream instanceof Http1Peer.Exchange http1) {
            List<String> all = new ArrayList<>(List.of(fields));
            String accept = accept(request.get("Sec-WebSocket-Key").orElseThrow());
            all.addAll(List.of("Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept", accept));
            http1.send(Head.response(101, all.toArray(new String[0])), true);
            http1.becomeTunnel();
        } else {
            stream.send(Head.response(200, fields), false);
        }
    }

    private static String accept(String key) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1")
                            .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                                    .getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
