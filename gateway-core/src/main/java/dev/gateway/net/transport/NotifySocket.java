package dev.gateway.net.transport;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * sd_notify socket: the datagram socket of the service manager, for the state of the process ({@code sd_notify(3)}).
 * The JDK has no such sockets, so this needs Netty's native code, but no event loop. Safe from any thread.
 */
public final class NotifySocket {
    private static final int MAX_NAME = 108; // of sockaddr_un

    private final String address;
    private final byte[] name;

    /**
     * Makes it; nothing is sent yet.
     *
     * @param address an absolute path, or a name in the abstract namespace after an {@code @}
     * @throws IOException if there is no such address, or no native code on this platform
     */
    public NotifySocket(String address) throws IOException {
        this.address = address;
        this.name = address.getBytes(StandardCharsets.UTF_8);
        boolean isAbstract = address.startsWith("@");
        if (!isAbstract && !address.startsWith("/")) {
            throw new IOException(address + " is neither a path nor an abstract name");
        }
        if (name.length < 2 || name.length > MAX_NAME) {
            throw new IOException(address + " is too long or too short for the name of a socket");
        }
        if (!Epoll.isAvailable()) {
            throw new IOException(
                    "datagrams to Unix-domain sockets are not available here", Epoll.unavailabilityCause());
        }
        if (isAbstract) {
            name[0] = 0;
        }
    }

    /**
     * Sends a message without waiting.
     *
     * @return false if there is no room for it at the moment
     * @throws IOException if nobody listens
     */
    public boolean send(String message) throws IOException {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).put(bytes);
        Socket socket = Socket.newSocketDomainDgram();
        try {
            return socket.sendToDomainSocket(buffer, 0, bytes.length, name) > 0;
        } finally {
            socket.close();
        }
    }

    @Override
    public String toString() {
        return address;
    }
}
