package dev.gateway.tests.peer;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;

/**
 * An upstream that does what a test tells it to. One port speaks HTTP/1.1 and, to who begins with its preface, HTTP/2;
 * by TLS it offers both. Behaviours are chosen by path and run on a thread of their exchange.
 */
public final class Origin implements AutoCloseable {
    /** What the origin does with a request. Returning ends nothing; throwing resets the connection. */
    public interface Behaviour {
        /** The head is read; the body is not. */
        void serve(PeerStream stream, Head head) throws Exception;
    }

    private final ServerSocket server;
    private final long[] settings;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "origin");
        thread.setDaemon(true);
        return thread;
    });
    private final Map<String, Behaviour> behaviours = new ConcurrentHashMap<>();
    private final Map<String, List<Head>> requests = new ConcurrentHashMap<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final List<Peer> peers = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();

    private Origin(ServerSocket server, long... settings) {
        this.server = server;
        this.settings = settings;
        threads.execute(this::accept);
    }

    /** Starts in cleartext; pairs of HTTP/2 settings may follow. */
    public static Origin start(long... settings) throws IOException {
        return new Origin(new ServerSocket(0, 1024, InetAddress.getLoopbackAddress()), settings);
    }

    /** Starts with TLS and a self-signed certificate. */
    public static Origin startTls() throws IOException {
        SSLServerSocket server = (SSLServerSocket) Sockets.serverContext()
                .getServerSocketFactory()
                .createServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        SSLParameters parameters = server.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
        server.setSSLParameters(parameters);
        return new Origin(server);
    }

    /** Sets what is done for a path. */
    public Origin on(String path, Behaviour behaviour) {
        behaviours.put(path, behaviour);
        return this;
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Returns how many connections were accepted. */
    public int connections() {
        return connections.get();
    }

    /** Returns the connections accepted on which something was received, the oldest first. */
    public List<Peer> peers() {
        return peers;
    }

    /** Returns the heads received for a path. */
    public List<Head> requests(String path) {
        return requests.getOrDefault(path, List.of());
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
            // The other side has gone; whoever waits for its response knows.
        } finally {
            if (socket.isClosed()) {
                sockets.remove(socket);
            }
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
            requests.computeIfAbsent(head.path(), p -> new CopyOnWriteArrayList<>())
                    .add(head);
            Behaviour behaviour = behaviours.get(head.path());
            if (behaviour == null) {
                stream.receiveBody();
                stream.send(Head.response(404), true);
                return true;
            }
            behaviour.serve(stream, head);
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
