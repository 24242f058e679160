package dev.gateway.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Answers requests with the given bytes in turn, the last for all that follow, and closes the connection each time, as an
 * admin listener does for a command.
 */
final class FakeAdmin implements AutoCloseable {
    private final ServerSocketChannel server;
    private final List<String> answers;
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> ended;

    private FakeAdmin(ServerSocketChannel server, SocketAddress address, List<String> answers) throws IOException {
        this.server = server.bind(address);
        this.answers = answers;
        ended = CompletableFuture.runAsync(this::serve, task -> new Thread(task, "fake admin listener").start());
    }

    /** Listens at a free port of loopback. */
    static FakeAdmin answering(String... answers) throws IOException {
        return new FakeAdmin(
                ServerSocketChannel.open(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                List.of(answers));
    }

    /** Listens at a socket file. */
    static FakeAdmin answering(Path file, String answer) throws IOException {
        return new FakeAdmin(
                ServerSocketChannel.open(StandardProtocolFamily.UNIX),
                UnixDomainSocketAddress.of(file),
                List.of(answer));
    }

    /** Returns a whole answer. */
    static String http(int status, String body) {
        return "HTTP/1.1 " + status + " Some Words\r\nContent-Type: text/plain\r\n\r\n" + body;
    }

    /** Returns what a command takes for {@code --admin}. */
    String address() throws IOException {
        return "127.0.0.1:" + ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    /** Returns the heads of the requests so far. */
    List<String> requests() {
        return requests;
    }

    private void serve() {
        try {
            while (true) {
                try (SocketChannel client = server.accept()) {
                    ByteBuffer bytes = ByteBuffer.allocate(8192);
                    String head = "";
                    while (!head.endsWith("\r\n\r\n") && client.read(bytes) >= 0) {
                        head = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII);
                    }
                    String answer = answers.get(Math.min(requests.size(), answers.size() - 1));
                    requests.add(head);
                    client.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8)));
                }
            }
        } catch (IOException e) {
            return; // closed
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        ended.join();
    }
}
