package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.net.tls.SelfSigned;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.tls.TlsValues;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** What clients of listeners say and hear, byte by byte. */
final class Clients {
    static final int DATA = 0;
    static final int SETTINGS = 4;
    static final int GOAWAY = 7;

    private Clients() {}

    static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
    }

    static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Reads the head of a response. */
    static String head(InputStream in) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            assertThat(c).as("the next byte after: %s", text).isGreaterThanOrEqualTo(0);
            text.append((char) c);
        }
        return text.toString();
    }

    /** Reads a response with a Content-Length, and nothing beyond. */
    static String response(InputStream in) throws IOException {
        String head = head(in);
        int length = Integer.parseInt(head.replaceAll("(?is).*Content-Length: (\\d+).*", "$1"));
        return head + new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
    }

    static String exchange(Socket socket, String path) throws IOException {
        send(socket, get(path));
        return response(socket.getInputStream());
    }

    /** Reads to the end; a reset is one too. */
    static String rest(Socket socket) throws IOException {
        try {
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
            return "";
        }
    }

    /** Sends HTTP/2's preface with empty settings. */
    static void preface(Socket socket) throws IOException {
        send(socket, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        settings(socket);
    }

    static void settings(Socket socket) throws IOException {
        frame(socket, SETTINGS, 0, 0);
    }

    /** Asks for {@code /} on a stream. */
    static void h2Get(Socket socket, int stream) throws IOException {
        // Of HPACK's static table :method GET, :scheme, :path /, and :authority with a literal value.
        int scheme = socket instanceof SSLSocket ? 0x87 : 0x86;
        frame(socket, 1, 5, stream, 0x82, scheme, 0x84, 0x41, 6, 'a', '.', 't', 'e', 's', 't');
    }

    private static void frame(Socket socket, int type, int flags, int stream, int... payload) throws IOException {
        byte[] frame = new byte[9 + payload.length];
        frame[2] = (byte) payload.length;
        frame[3] = (byte) type;
        frame[4] = (byte) flags;
        frame[8] = (byte) stream;
        for (int i = 0; i < payload.length; i++) {
            frame[9 + i] = (byte) payload[i];
        }
        socket.getOutputStream().write(frame);
    }

    /** Reads frames up to one of that type, and acknowledges settings and pings on the way. */
    static String frames(Socket socket, int upTo) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        StringBuilder text = new StringBuilder();
        int type = -1;
        while (type != upTo) {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            in.readInt();
            byte[] payload = in.readNBytes(length);
            if (type == SETTINGS && flags == 0) {
                frame(socket, SETTINGS, 1, 0);
            } else if (type == 6 && flags == 0) {
                int[] data = new int[payload.length];
                for (int i = 0; i < data.length; i++) {
                    data[i] = payload[i];
                }
                frame(socket, 6, 1, 0, data);
            } else if (type == DATA) {
                text.append(new String(payload, StandardCharsets.ISO_8859_1));
            }
        }
        return text.toString();
    }

    /** Returns a listener's TLS with self-signed certificates; with more than one, the name chooses. */
    static ServerTls serverTls(Path directory, int certificates) throws Exception {
        CertificateRef files = SelfSigned.in(directory);
        return new ServerTls(TlsValues.server(
                Collections.nCopies(certificates, files),
                TlsValues.spoken(List.of("h2", "http/1.1")),
                TlsValues.clients(ClientAuth.NONE, null),
                ListenerRig.PATIENCE_MILLIS));
    }

    /** Puts a client's TLS over a connection; the handshake is the caller's. */
    static SSLSocket tls(Socket connected, Path directory, String... alpn) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(SelfSigned.in(directory).certFile())) {
            store.setCertificateEntry(
                    "gateway", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(connected, "localhost", connected.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(alpn);
        socket.setSSLParameters(parameters);
        return socket;
    }
}
