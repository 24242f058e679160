package dev.gateway.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** One question by a Unix-domain socket; its answer ends with the connection. Blocks, but not for ever. */
final class UnixExchange {
    private static final int READ_BYTES = 16 << 10;

    private UnixExchange() {}

    /**
     * Sends bytes and returns what comes back.
     *
     * @param most after which nothing more is read
     * @param timeoutMillis for each part of the answer
     */
    static byte[] ask(Path file, byte[] question, int most, int timeoutMillis) throws IOException {
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
}
