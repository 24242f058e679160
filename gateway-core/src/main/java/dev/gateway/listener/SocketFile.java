package dev.gateway.listener;

import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** The file of a Unix-domain socket, which outlives a process that was killed. Start and stop only. */
final class SocketFile {
    private SocketFile() {}

    /**
     * Removes a socket file that nobody listens on any more.
     *
     * @throws BindException if somebody does, or it is no socket
     * @throws IOException if it cannot be removed
     */
    static void removeStale(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!Files.readAttributes(path, BasicFileAttributes.class).isOther()) {
            throw new BindException("the file exists and is not a socket");
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException refused) {
            Files.delete(path);
            return;
        }
        throw new BindException("another process listens on it");
    }
}
