package dev.gateway.net.transport;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inherited sockets (socket activation): listening sockets that the parent process had made before, as systemd
 * does ({@code sd_listen_fds(3)}). They stay open until {@link #close}; listeners get duplicates. Used by the threads that
 * start, change and stop the gateway.
 */
public final class InheritedSockets {
    private static final Logger log = LoggerFactory.getLogger(InheritedSockets.class);

    private static final int FIRST = 3; // after standard input, output and error
    private static final int SOL_SOCKET = 1;
    private static final int SO_TYPE = 3;
    private static final int SO_ACCEPTCONN = 30;
    private static final int SO_DOMAIN = 39;
    private static final int SOCK_STREAM = 1;
    private static final int AF_UNIX = 1;

    private final List<Inherited> sockets;

    /** A socket, and whether a listener has wanted it. */
    private static final class Inherited {
        final Socket socket;
        final String name;
        final SocketAddress address;
        boolean wanted;

        Inherited(Socket socket, String name, SocketAddress address) {
            this.socket = socket;
            this.name = name;
            this.address = address;
        }
    }

    private InheritedSockets(List<Inherited> sockets) {
        this.sockets = sockets;
    }

    /** Returns none. */
    public static InheritedSockets none() {
        return new InheritedSockets(List.of());
    }

    /**
     * Finds what was passed.
     *
     * @param pid of this process: what was meant for another one is left alone
     * @throws IOException if there is something that cannot be used; the message says what
     */
    public static InheritedSockets of(Map<String, String> environment, long pid) throws IOException {
        String count = environment.get("LISTEN_FDS");
        if (count == null || !Long.toString(pid).equals(environment.get("LISTEN_PID"))) {
            return none();
        }
        if (!Epoll.isAvailable()) {
            throw new IOException("sockets were passed, which needs epoll", Epoll.unavailabilityCause());
        }
        String[] names = environment.getOrDefault("LISTEN_FDNAMES", "").split(":", -1);
        List<Inherited> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < Integer.parseInt(count); i++) {
                sockets.add(inherit(FIRST + i, i < names.length ? names[i] : ""));
            }
        } catch (NumberFormatException e) {
            throw new IOException("LISTEN_FDS is " + count + ", which is no number", e);
        }
        return new InheritedSockets(sockets);
    }

    private static Inherited inherit(int descriptor, String name) throws IOException {
        try {
            Socket socket = new Socket(descriptor);
            if (socket.getIntOpt(SOL_SOCKET, SO_TYPE) != SOCK_STREAM
                    || socket.getIntOpt(SOL_SOCKET, SO_ACCEPTCONN) == 0) {
                throw new IOException("it does not listen for connections (Accept= must be no)");
            }
            boolean unix = socket.getIntOpt(SOL_SOCKET, SO_DOMAIN) == AF_UNIX;
            return new Inherited(socket, name, unix ? socket.localDomainSocketAddress() : socket.localAddress());
        } catch (IOException | ChannelException e) {
            throw new IOException("descriptor " + descriptor + " (" + name + ") was passed: " + e.getMessage(), e);
        }
    }

    boolean isEmpty() {
        return sockets.isEmpty();
    }

    /** Makes the channel of a socket that is taken over. */
    public interface Taker {
        /**
         * Takes a socket over.
         *
         * @param descriptor a duplicate, which belongs to the channel from then on
         * @param address where it is bound
         */
        void take(int descriptor, SocketAddress address) throws IOException;
    }

    /**
     * Passes duplicates of the sockets that are meant for a listener: those of its name, else those of its address.
     *
     * @param wanted the address that the listener is configured with
     * @return whether there was any
     * @throws IOException what the taker throws, or if a socket cannot be duplicated
     */
    public boolean take(String listener, SocketAddress wanted, Taker taker) throws IOException {
        List<Inherited> found =
                sockets.stream().filter(each -> each.name.equals(listener)).toList();
        if (found.isEmpty()) {
            found = sockets.stream()
                    .filter(each -> isSame(each.address, wanted))
                    .toList();
        }
        for (Inherited each : found) {
            each.wanted = true;
            taker.take(duplicate(each.socket), each.address);
        }
        return !found.isEmpty();
    }

    private static boolean isSame(SocketAddress bound, SocketAddress wanted) {
        if (!(bound instanceof InetSocketAddress a && wanted instanceof InetSocketAddress b)) {
            return bound.equals(wanted);
        }
        return !b.isUnresolved()
                && a.getPort() == b.getPort()
                && (a.getAddress().equals(b.getAddress())
                        || (a.getAddress().isAnyLocalAddress() && b.getAddress().isAnyLocalAddress()));
    }

    /**
     * Duplicates a descriptor by sending it to ourselves, which is the one way that Netty has, and also makes the socket
     * one that does not block: its creator may have left that out. The receiver is connected before it has a name:
     * every process of this network could send to the name, but the kernel then takes messages of the sender only.
     */
    private static int duplicate(Socket socket) throws IOException {
        Socket receiver = Socket.newSocketDomainDgram();
        Socket sender = Socket.newSocketDomainDgram();
        try {
            sender.bind(new DomainSocketAddress("")); // a free abstract name, of the kernel's choice
            receiver.connect(sender.localDomainSocketAddress());
            receiver.bind(new DomainSocketAddress(""));
            sender.connect(receiver.localDomainSocketAddress());
            sender.sendFd(socket.intValue());
            int descriptor = receiver.recvFd();
            if (descriptor <= 0) {
                throw new IOException("a socket that was passed cannot be duplicated");
            }
            return descriptor;
        } finally {
            sender.close();
            receiver.close();
        }
    }

    /** Tells the log which of them no listener has wanted, so that clients who connect wait for nothing. */
    public void reportUnwanted() {
        for (Inherited each : sockets) {
            if (!each.wanted) {
                log.warn(
                        "No listener uses the inherited socket {} ({}): a listener needs its name or its address",
                        each.address,
                        each.name);
            }
        }
    }

    /** Closes them; they live on where their creator has kept them. */
    public void close() {
        for (Inherited each : sockets) {
            try {
                each.socket.close();
            } catch (IOException e) {
                log.warn("Cannot close the inherited socket {}: {}", each.address, e.toString());
            }
        }
    }
}
