package dev.gateway.tests.peer;

import io.netty.pkitesting.X509Bundle;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import org.jspecify.annotations.Nullable;

/**
 * An upstream that does what a test tells it to. One port speaks HTTP/1.1 and, to who begins with its preface, HTTP/2;
 * by TLS it offers both. Behaviors are chosen by path and run on a thread of their exchange.
 */
public final class Origin implements AutoCloseable {
    /** What the origin does with a request. Returning ends nothing; throwing resets the connection. */
    public interface Behavior {
        /** The head is read; the body is not. */
        void serve(PeerStream stream, Head head) throws Exception;
    }

    /** Number of heads kept for a path: steady load would fill the heap, which it shares with the gateway. */
    private static final int MOST_KEPT = 10_000;

    private final ServerSocket server;
    private final @Nullable X509Bundle certificate;
    private final long[] settings;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "origin");
        thread.setDaemon(true);
        return thread;
    });
    private final Map<String, Behavior> behaviors = new ConcurrentHashMap<>();
    private volatile Behavior otherwise = (stream, head) -> {
        stream.receiveBody();
        stream.send(Head.response(404), true);
    };
    private final Map<String, List<Head>> requests = new ConcurrentHashMap<>(); // each list is its own lock
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final List<Peer> peers = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicReference<@Nullable CountDownLatch> beforeFirst = new AtomicReference<>();

    private Origin(ServerSocket server, @Nullable X509Bundle certificate, long... settings) {
        this.server = server;
        this.certificate = certificate;
        this.settings = settings;
        threads.execute(this::accept);
    }

    /** Starts in cleartext; pairs of HTTP/2 settings may follow. */
    public static Origin start(long... settings) throws IOException {
        return new Origin(new ServerSocket(0, 1024, InetAddress.getLoopbackAddress()), null, settings);
    }

    /** Starts in cleartext at an address of this host, at a port or, if that is 0, at a free one. */
    public static Origin startAt(String address, int port) throws IOException {
        return new Origin(new ServerSocket(port, 1024, InetAddress.getByName(address)), null);
    }

    /** Starts with TLS, a self-signed certificate for localhost, and h2 and HTTP/1.1 unless others are named. */
    public static Origin startTls(String... protocols) throws IOException {
        return startTls(Sockets.certificate(), protocols);
    }

    /** Starts with TLS and a certificate, and h2 and HTTP/1.1. */
    public static Origin startTls(CertificateAuthority.Issued identity) throws IOException {
        return startTls(identity.bundle());
    }

    private static Origin startTls(X509Bundle certificate, String... protocols) throws IOException {
        SSLServerSocket server = (SSLServerSocket) Sockets.serverContext(certificate)
                .getServerSocketFactory()
                .createServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        SSLParameters parameters = server.getSSLParameters();
        parameters.setApplicationProtocols(protocols.length == 0 ? new String[] {"h2", "http/1.1"} : protocols);
        server.setSSLParameters(parameters);
        return new Origin(server, certificate);
    }

    /** Sets what is done for a path. */
    public Origin on(String path, Behavior behavior) {
        behaviors.put(path, behavior);
        return this;
    }

    /** Sets what is done for all other paths, instead of answering 404. */
    public Origin otherwise(Behavior behavior) {
        otherwise = behavior;
        return this;
    }

    /** Lets the first connection of HTTP/2 wait for this before it gets SETTINGS. */
    public Origin delayFirst(CountDownLatch until) {
        beforeFirst.set(until);
        return this;
    }

    /** Writes the certificate that clients have to trust, as PEM. */
    public Path writeCertificate(Path file) throws IOException {
        return Files.writeString(file, Objects.requireNonNull(certificate).getCertificatePEM());
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Returns how many connections were accepted. */
    public int connections() {
        return connections.get();
    }

    /** Returns how many connections were accepted and not closed since, by this side or as it has heard of the other's end. */
    public int openConnections() {
        return (int) sockets.stream().filter(socket -> !socket.isClosed()).count();
    }

    /** Returns the connections accepted on which something was received, the oldest first. */
    public List<Peer> peers() {
        return peers;
    }

    /**
     * Returns the heads received for a path.
     *
     * @throws IllegalStateException if there were more than are kept
     */
    public List<Head> requests(String path) {
        List<Head> received = requests.computeIfAbsent(path, p -> new ArrayList<>());
        synchronized (received) {
            if (received.size() == MOST_KEPT) {
                throw new IllegalStateException("too many requests for " + path + ": count them in its behavior");
            }
            return List.copyOf(received);
        }
    }

    private void keep(Head head) {
        List<Head> received = requests.computeIfAbsent(head.path(), p -> new ArrayList<>());
        synchronized (received) {
            if (received.size() < MOST_KEPT) {
                received.add(head);
            }
        }
    }

    /** Forgets the connections and requests there were until now, for tests that measure memory. */
    public void forget() {
        peers.clear();
        requests.clear();
    }

    /** Closes the port and all connections before its test ends, as a container does that is removed. */
    public void leave() throws IOException {
        close();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.shutdownNow();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                connections.incrementAndGet();
                if (server.isClosed()) {
                    socket.close(); // too late to be served, and maybe to be found by close
                    return;
                }
                threads.execute(() -> serve(socket));
            } catch (SocketException e) {
                return; // closed
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void serve(Socket socket) {
        try {
            Sockets.configure(socket);
            socket.setSoTimeout(0);
            BufferedInputStream in = new BufferedInputStream(socket.getInputStream(), 65536);
            if (beginsWithPreface(in)) {
                CountDownLatch until = beforeFirst.getAndSet(null);
                if (until != null) {
                    Http2Peer.await(until, "the first connection still waits");
                }
                peers.add(Http2Peer.server(socket, in, stream -> threads.execute(() -> serveStream(stream)), settings));
                return; // its reader has its own thread
            }
            Http1Peer peer = new Http1Peer(socket, in, false);
            peers.add(peer);
            while (!socket.isClosed() && !peer.isAtEnd()) {
                if (!serveStream(peer.open())) {
                    return;
                }
            }
            socket.close();
        } catch (IOException e) {
            close(socket); // the other side has gone; the client that waits for its response notices it
        } finally {
            if (socket.isClosed()) {
                sockets.remove(socket);
            }
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // closed it is
        }
    }

    private static boolean beginsWithPreface(InputStream in) throws IOException {
        in.mark(Http2Peer.PREFACE.length);
        int first = in.read();
        in.reset();
        if (first != 'P') {
            return false;
        }
        byte[] start = in.readNBytes(3);
        in.reset();
        if (!Arrays.equals(start, 0, 3, Http2Peer.PREFACE, 0, 3)) {
            return false;
        }
        in.readNBytes(Http2Peer.PREFACE.length);
        return true;
    }

    /** Returns whether the connection may serve another. */
    private boolean serveStream(PeerStream stream) {
        try {
            Head head = stream.receiveHead();
            keep(head);
            behaviors.getOrDefault(head.path(), otherwise).serve(stream, head);
            return true;
        } catch (EOFException | SocketException | StreamResetException e) {
            abort(stream);
            return false;
        } catch (Exception e) {
            System.err.println("origin: " + e);
            abort(stream);
            return false;
        }
    }

    private static void abort(PeerStream stream) {
        try {
            stream.reset();
        } catch (IOException e) {
            // gone already
        }
    }
}
