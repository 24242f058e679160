package dev.gateway.tests.peer;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLSocket;

/** An HTTP/1.1 connection. It sends what a test tells it to, right or wrong; bytes and text are ISO 8859-1. */
public final class Http1Peer implements Peer {
    private final Socket socket;
    private final Socket transport; // below TLS, or the same
    private final InputStream in;
    private final OutputStream out;
    private final boolean client;

    public Http1Peer(Socket socket, InputStream in, boolean client) throws IOException {
        this(socket, socket, in, client);
    }

    Http1Peer(SSLSocket socket, Socket transport, boolean client) throws IOException {
        this(socket, transport, new BufferedInputStream(socket.getInputStream(), 65536), client);
    }

    private Http1Peer(Socket socket, Socket transport, InputStream in, boolean client) throws IOException {
        this.socket = socket;
        this.transport = transport;
        this.in = in;
        this.out = socket.getOutputStream();
        this.client = client;
    }

    /** Connects in cleartext. */
    public static Http1Peer connect(int port) throws IOException {
        Socket socket = Sockets.connect(port);
        return new Http1Peer(socket, new BufferedInputStream(socket.getInputStream(), 65536), true);
    }

    /** Sends text as it is. */
    public Http1Peer raw(String text) throws IOException {
        return raw(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Sends bytes as they are. */
    public Http1Peer raw(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
        return this;
    }

    /** Sends a FIN and goes on receiving. */
    public void halfClose() throws IOException {
        socket.shutdownOutput();
    }

    /** Whether the peer sent its end of the stream before anything else. */
    public boolean isAtEnd() throws IOException {
        in.mark(1);
        int b = in.read();
        in.reset();
        return b < 0;
    }

    /** Receives all there is until the peer closes. */
    public String readToEnd() throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Override
    public Exchange open() {
        return new Exchange("GET");
    }

    /** Starts receiving the response to a request sent as raw text. */
    public Exchange response(String method) {
        return new Exchange(method);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    @Override
    public void abort() throws IOException {
        Sockets.abort(transport); // past TLS, which would say that all is well
    }

    @Override
    public void awaitDelivery() throws IOException {
        Sockets.awaitDelivery(transport);
    }

    @Override
    public void awaitClosed() throws IOException {
        try {
            byte[] buffer = new byte[8192];
            while (in.read(buffer) >= 0) {
                // dropped
            }
        } catch (SocketException e) {
            // A reset is a close, too.
        }
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("closed within a line: \"" + line.toString(StandardCharsets.ISO_8859_1) + "\"");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    private List<Map.Entry<String, String>> readFields() throws IOException {
        List<Map.Entry<String, String>> fields = new ArrayList<>();
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new IOException("not a field line: \"" + line + "\"");
            }
            fields.add(Map.entry(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
        return fields;
    }

    /** One request and its response. */
    public final class Exchange extends PeerStream {
        private String method;
        private boolean sendsChunked;
        private long remaining; // of the body, or of the chunk
        private boolean chunked;
        private boolean untilClose;
        private boolean tunnel;
        private boolean ended;
        private List<Map.Entry<String, String>> trailers = List.of();

        private Exchange(String method) {
            this.method = method;
        }

        @Override
        public void send(Head head, boolean last) throws IOException {
            StringBuilder text = new StringBuilder(256);
            if (client) {
                method = head.method();
                text.append(method).append(' ').append(head.target()).append(" HTTP/1.1\r\n");
                if (head.get("host").isEmpty()) {
                    text.append("Host: gateway.test\r\n");
                }
            } else {
                text.append("HTTP/1.1 ").append(head.status()).append(" Status\r\n");
            }
            head.fields().forEach(f -> text.append(f.getKey())
                    .append(": ")
                    .append(f.getValue())
                    .append("\r\n"));
            boolean framed = head.get("content-length").isPresent()
                    || head.get("transfer-encoding").isPresent();
            boolean bodyless = head.isInterim() || head.status() == 204 || head.status() == 304;
            if (!framed && !bodyless && !method.equals("HEAD")) {
                if (!last) {
                    text.append("Transfer-Encoding: chunked\r\n");
                } else if (!client) {
                    text.append("Content-Length: 0\r\n");
                }
            }
            sendsChunked = !last
                    && !bodyless
                    && head.get("content-length").isEmpty()
                    && (!framed || head.all("transfer-encoding").contains("chunked"));
            raw(text.append("\r\n").toString());
        }

        /** Goes over to bytes both ways; the last of a direction is a FIN, or close_notify. */
        void becomeTunnel() {
            tunnel = untilClose = true;
            sendsChunked = chunked = ended = false;
        }

        @Override
        public void send(byte[] data, int offset, int length, boolean last) throws IOException {
            if (tunnel) {
                out.write(data, offset, length);
                if (last) {
                    out.flush();
                    halfClose();
                    return;
                }
            } else if (!sendsChunked) {
                out.write(data, offset, length);
            } else {
                if (length > 0) {
                    out.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
                    out.write(data, offset, length);
                    out.write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
                }
                if (last) {
                    out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
                }
            }
            out.flush();
        }

        @Override
        public void sendTrailers(String... fields) throws IOException {
            StringBuilder text = new StringBuilder("0\r\n");
            Head.pairs(fields).forEach(f -> text.append(f.getKey())
                    .append(": ")
                    .append(f.getValue())
                    .append("\r\n"));
            raw(text.append("\r\n").toString());
        }

        @Override
        public Head receiveHead() throws IOException {
            String line = readLine();
            String[] parts = line.split(" ", 3);
            if (parts.length < 2) {
                throw new IOException("not a start line: \"" + line + "\"");
            }
            List<Map.Entry<String, String>> fields = readFields();
            Head head;
            if (client) {
                head = new Head("", "", Integer.parseInt(parts[1]), fields);
            } else {
                head = new Head(parts[0], parts[1], 0, fields);
                method = parts[0];
            }
            startBody(head);
            return head;
        }

        private void startBody(Head head) {
            boolean bodyless =
                    client && (head.status() < 200 || head.status() == 204 || head.status() == 304 || isHead());
            chunked = !bodyless
                    && head.all("transfer-encoding").stream()
                            .anyMatch(v -> v.toLowerCase(Locale.ROOT).endsWith("chunked"));
            remaining = bodyless || chunked
                    ? 0
                    : head.get("content-length").map(Long::parseLong).orElse(0L);
            untilClose = client
                    && !bodyless
                    && !chunked
                    && head.get("content-length").isEmpty();
            ended = !chunked && !untilClose && remaining == 0;
        }

        private boolean isHead() {
            return method.equals("HEAD");
        }

        @Override
        public int receive(byte[] buffer) throws IOException {
            if (ended) {
                return -1;
            }
            if (untilClose) {
                int n = in.read(buffer);
                ended = n < 0;
                return n;
            }
            if (chunked && remaining == 0) {
                String size = readLine();
                remaining = Long.parseLong(size.split(";", 2)[0].strip(), 16);
                if (remaining == 0) {
                    trailers = readFields();
                    ended = true;
                    return -1;
                }
            }
            int n = in.read(buffer, 0, (int) Math.min(buffer.length, remaining));
            if (n < 0) {
                throw new EOFException("closed within the body");
            }
            remaining -= n;
            if (remaining == 0) {
                if (chunked) {
                    readLine();
                } else {
                    ended = true;
                }
            }
            return n;
        }

        @Override
        public List<Map.Entry<String, String>> trailers() {
            return trailers;
        }

        @Override
        public void reset() throws IOException {
            abort();
        }

        @Override
        public Http1Peer peer() {
            return Http1Peer.this;
        }
    }
}
