package dev.gateway.tests.peer;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Sockets of the peers: loopback, with a limit to every wait. */
final class Sockets {
    private Sockets() {}

    static Socket connect(int port) throws IOException {
        Socket socket = new Socket();
        configure(socket);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), Peer.PATIENCE_MILLIS);
        return socket;
    }

    static void configure(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(Peer.PATIENCE_MILLIS);
    }

    /** Speaks TLS on a connected socket, offering one protocol. */
    static SSLSocket secure(Socket transport, SSLContext context, String protocol) throws IOException {
        SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(transport, null, transport.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        if (!protocol.equals(socket.getApplicationProtocol())) {
            throw new IOException("offered " + protocol + ", got \"" + socket.getApplicationProtocol() + "\"");
        }
        return socket;
    }

    static void abort(Socket socket) throws IOException {
        if (!socket.isClosed()) {
            socket.setSoLinger(true, 0);
        }
        socket.close();
    }

    /** Waits until the other side's kernel has acknowledged all that was sent, or the connection has ended. */
    static void awaitDelivery(Socket socket) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (isUnacknowledged(socket)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("the other side does not receive what was sent");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static boolean isUnacknowledged(Socket socket) throws IOException {
        String local = String.format(":%04X", socket.getLocalPort());
        String remote = String.format(":%04X", socket.getPort());
        for (String table : new String[] {"tcp", "tcp6"}) {
            for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
                // number, local end, remote end, state, unacknowledged and unread bytes
                String[] words = line.strip().split("\\s+");
                if (words[1].endsWith(local) && words[2].endsWith(remote) && !words[4].startsWith("00000000:")) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Makes a self-signed certificate for localhost. */
    static X509Bundle certificate() throws IOException {
        try {
            return new CertificateBuilder()
                    .subject("CN=localhost")
                    .addSanDnsName("localhost")
                    .addSanIpAddress("127.0.0.1")
                    .notBefore(Instant.now().minus(Duration.ofDays(1)))
                    .notAfter(Instant.now().plus(Duration.ofDays(2)))
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    static SSLContext serverContext(X509Bundle certificate) throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(certificate.toKeyManagerFactory().getKeyManagers(), null, new SecureRandom());
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** Makes the side of a client that trusts whoever answers. */
    static SSLContext clientContext() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new TrustsAll()}, new SecureRandom());
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** Certificates are made at the start of the test. */
    private static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
