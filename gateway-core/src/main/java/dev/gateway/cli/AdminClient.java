package dev.gateway.cli;

import dev.gateway.files.InputFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Asks a gateway's admin listener for pages and actions, one after the other. Speaks HTTP by itself: the JDK's clients take
 * longer to load than a question takes, and so do regular expressions and strings put together by {@code +}, which are
 * therefore kept out of {@link #get}.
 */
final class AdminClient {
    private static final int TIMEOUT_MILLIS = 5_000;
    private static final int ACTION_TIMEOUT_MILLIS = 60_000; // a reload waits for the first answers of DNS
    private static final int MAX_ANSWER = 64 << 20;
    private static final int READ_BYTES = 16 << 10; // of a socket file, at once
    private static final String EXPECTED = "expected an address such as 127.0.0.1:9901, not ";

    /** Begins an address that is a socket file. */
    static final String UNIX = "unix:";

    private static final URI LOCAL = URI.create("http://localhost:9901");

    private final URI address; // of a socket file, where it would be with a port
    private final @Nullable Path socketFile;
    private final int timeoutMillis;
    private final @Nullable Path tokenFile;

    /** An answer, whatever its status. */
    record Answer(int status, String body) {}

    /**
     * Makes a client of an address such as {@code 127.0.0.1:9901}.
     *
     * @param tokenFile holds the bearer token, null for none
     * @throws IllegalArgumentException if that is no address
     */
    AdminClient(String address, @Nullable Path tokenFile) {
        this(
                address.startsWith(UNIX) ? LOCAL : uri(address),
                address.startsWith(UNIX) ? Path.of(address.substring(UNIX.length())) : null,
                TIMEOUT_MILLIS,
                tokenFile);
    }

    /** Makes a client of a URL's host and port. */
    AdminClient(URI address, int timeoutMillis, @Nullable Path tokenFile) {
        this(address, null, timeoutMillis, tokenFile);
    }

    private AdminClient(URI address, @Nullable Path socketFile, int timeoutMillis, @Nullable Path tokenFile) {
        this.address = address;
        this.socketFile = socketFile;
        this.timeoutMillis = timeoutMillis;
        this.tokenFile = tokenFile;
    }

    private static URI uri(String address) {
        String url =
                address.contains("://") ? address : "http://" + (address.startsWith(":") ? "127.0.0.1" : "") + address;
        URI uri;
        try {
            uri = URI.create(url);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(EXPECTED + address, e);
        }
        if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 0) {
            throw new IllegalArgumentException(EXPECTED + address);
        }
        return uri;
    }

    /**
     * Fetches a page.
     *
     * @param path and query
     */
    Answer get(String path) throws IOException {
        return ask("GET", path, "", timeoutMillis);
    }

    /**
     * Has something done, and returns what came of it.
     *
     * @param path and query
     * @param asker who wants it, for the gateway's log; what a header field cannot have is replaced
     */
    Answer post(String path, String asker) throws IOException {
        String fields = "Content-Length: 0\r\nX-Requested-By: " + asker.replaceAll("[^ -~]", "?") + "\r\n";
        return ask("POST", path, fields, ACTION_TIMEOUT_MILLIS);
    }

    private Answer ask(String method, String path, String fields, int answerMillis) throws IOException {
        int port = address.getPort() < 0 ? 80 : address.getPort();
        String authority = String.join(":", address.getHost(), Integer.toString(port));
        String request = String.join(
                "",
                method,
                " ",
                path,
                " HTTP/1.1\r\nHost: ",
                authority,
                "\r\nConnection: close\r\n",
                fields,
                authorization(),
                "\r\n");
        byte[] bytes = request.getBytes(StandardCharsets.US_ASCII);
        if (socketFile != null) {
            try {
                return answer(askFile(socketFile, bytes, MAX_ANSWER, answerMillis));
            } catch (IOException e) {
                throw new IOException(String.join(": ", socketFile.toString(), e.getMessage()), e);
            }
        }
        try (Socket socket = new Socket()) {
            String host = address.getHost();
            socket.connect(
                    new InetSocketAddress(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, port),
                    timeoutMillis);
            socket.setSoTimeout(answerMillis);
            socket.getOutputStream().write(bytes);
            return answer(socket.getInputStream().readNBytes(MAX_ANSWER));
        } catch (ConnectException e) {
            throw new IOException(
                    String.join(
                            "",
                            "nothing answers at ",
                            authority,
                            ": is the gateway running, and is this the address of its admin listener ('admin' in its",
                            " configuration)?"),
                    e);
        } catch (IOException e) {
            throw new IOException(String.join(": ", authority, e.getMessage()), e);
        }
    }

    /**
     * Sends bytes by a Unix-domain socket, and returns what comes back until the connection ends. Blocks, but not for ever.
     *
     * @param most after which nothing more is read
     * @param timeoutMillis for each part of the answer
     */
    static byte[] askFile(Path file, byte[] question, int most, int timeoutMillis) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(file));
                Selector selector = Selector.open()) {
            channel.write(ByteBuffer.wrap(question));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer part = ByteBuffer.allocate(READ_BYTES);
            while (answer.size() < most) {
                if (selector.select(timeoutMillis) == 0) {
                    throw new SocketTimeoutException("no answer");
                }
                selector.selectedKeys().clear();
                if (channel.read(part) < 0) {
                    break;
                }
                answer.write(part.array(), 0, part.position());
                part.clear();
            }
            return answer.toByteArray();
        }
    }

    private String authorization() throws IOException {
        return tokenFile == null
                ? ""
                : "Authorization: Bearer "
                        + InputFile.text(tokenFile, StandardCharsets.US_ASCII).strip() + "\r\n";
    }

    /** Takes an answer apart that ends with the connection; the admin listener sends no chunks. */
    private static Answer answer(byte[] bytes) throws IOException {
        String head = new String(bytes, StandardCharsets.ISO_8859_1);
        int body = head.indexOf("\r\n\r\n");
        int status = head.startsWith("HTTP/1.1 ") ? status(head) : -1;
        if (status < 0 || body < 0) {
            throw new IOException("the answer is not HTTP");
        }
        return new Answer(status, new String(bytes, body + 4, bytes.length - body - 4, StandardCharsets.UTF_8));
    }

    /** Returns the three digits after the protocol, or -1 if they are not digits. */
    private static int status(String head) {
        int status = 0;
        for (int i = 9; i < 12; i++) {
            int digit = i < head.length() ? Character.digit(head.charAt(i), 10) : -1;
            if (digit < 0) {
                return -1;
            }
            status = 10 * status + digit;
        }
        return head.startsWith(" ", 12) ? status : -1;
    }

    @Override
    public String toString() {
        return socketFile != null ? UNIX + socketFile : address.getHost() + ":" + address.getPort();
    }
}
