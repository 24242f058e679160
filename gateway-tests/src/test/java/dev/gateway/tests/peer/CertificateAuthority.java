package dev.gateway.tests.peer;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v2CRLBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/** Issues certificates for a test, and makes clients that trust it. Its files lie in the test's directory. */
public final class CertificateAuthority {
    private static final String SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";

    private final Path directory;
    private final X509Bundle root;

    /** A certificate with its key, in memory and in PEM files. */
    public record Issued(X509Bundle bundle, Path certFile, Path keyFile) {
        /** Returns it as an element of {@code certificateRefs}. */
        public String ref() {
            return "{certFile: " + certFile + ", keyFile: " + keyFile + "}";
        }
    }

    public CertificateAuthority(String name, Path directory) throws Exception {
        this.directory = directory;
        this.root = builder(name, Instant.now()).setIsCertificateAuthority(true).buildSelfSigned();
        Files.writeString(file(), root.getCertificatePEM());
    }

    private static CertificateBuilder builder(String name, Instant now) {
        return new CertificateBuilder()
                .ecp256()
                .subject("CN=" + name)
                .notBefore(now.minus(Duration.ofDays(2)))
                .notAfter(now.plus(Duration.ofDays(1)));
    }

    /** Returns the PEM file that its certificate is in. */
    public Path file() {
        return directory.resolve("ca-" + root.getCertificate().getSerialNumber() + ".pem");
    }

    /** Issues a certificate whose subject is the first name, for all the names. */
    public Issued issue(String... names) throws Exception {
        return write(names[0], builder(names[0], Instant.now()), names);
    }

    /** Issues a certificate that is no longer valid. */
    public Issued issueExpired(String name) throws Exception {
        return write(name, builder(name, Instant.now().minus(Duration.ofDays(1)).minusSeconds(60)), name);
    }

    /** Issues a certificate that is valid from tomorrow on. */
    public Issued issueNotYetValid(String name) throws Exception {
        return write(
                name,
                builder(name, Instant.now())
                        .notBefore(Instant.now().plus(Duration.ofDays(1)))
                        .notAfter(Instant.now().plus(Duration.ofDays(2))),
                name);
    }

    /**
     * Issues a certificate by way of an intermediate authority.
     *
     * @param complete whether who shows it shows the intermediate's certificate, too
     */
    public Issued issueByIntermediate(String name, boolean complete) throws Exception {
        return issueBy(issueAuthority("Intermediate"), name, complete);
    }

    /** Issues the certificate of an intermediate authority. */
    public Issued issueAuthority(String name) throws Exception {
        return write(
                name,
                builder(name, Instant.now()).setIsCertificateAuthority(true).buildIssuedBy(root));
    }

    /**
     * Issues a certificate of an intermediate authority.
     *
     * @param complete whether who shows it shows the intermediate's certificate, too
     */
    public Issued issueBy(Issued intermediate, String name, boolean complete) throws Exception {
        X509Bundle whole = builder(name, Instant.now())
                .addExtensionOctetString(SUBJECT_ALTERNATIVE_NAME, false, dnsNames(name))
                .buildIssuedBy(intermediate.bundle());
        X509Certificate[] alone = {whole.getCertificate()};
        return write(
                name,
                complete ? whole : X509Bundle.fromCertificatePath(alone, root.getCertificate(), whole.getKeyPair()));
    }

    /** Issues a certificate that has names of its own kinds only, as openssl writes them: {@code URI:…}, {@code DNS:…}. */
    public Issued issueFor(String commonName, String... names) throws Exception {
        CertificateBuilder builder = builder(commonName, Instant.now());
        for (String name : names) {
            String value = name.substring(name.indexOf(':') + 1);
            switch (name.substring(0, name.indexOf(':'))) {
                case "URI" -> builder.addSanUriName(value);
                case "DNS" -> builder.addSanDnsName(value);
                case "email" -> builder.addSanRfc822Name(value);
                default -> throw new IllegalArgumentException(name);
            }
        }
        return write("named", builder.buildIssuedBy(root));
    }

    /** Issues a certificate that has the name as its common name only. */
    public Issued issueWithoutAlternativeNames(String name) throws Exception {
        return write(name, builder(name, Instant.now()).buildIssuedBy(root));
    }

    /** Issues a certificate that is valid until then. */
    public Issued issueUntil(String name, Instant end) throws Exception {
        return write(name, builder(name, Instant.now()).notAfter(end), name);
    }

    /** Returns a list of certificates that are revoked, in PEM. */
    @SuppressWarnings("JavaUtilDate") // what makes the list takes no other
    public String revoke(Issued... all) throws Exception {
        Date now = new Date();
        X509v2CRLBuilder list = new JcaX509v2CRLBuilder(root.getCertificate(), now);
        list.setNextUpdate(Date.from(now.toInstant().plus(Duration.ofDays(1))));
        for (Issued each : all) {
            list.addCRLEntry(each.bundle().getCertificate().getSerialNumber(), now, 0);
        }
        byte[] der = list.build(new JcaContentSignerBuilder("SHA256withECDSA")
                        .build(root.getKeyPair().getPrivate()))
                .getEncoded();
        return "-----BEGIN X509 CRL-----\n" + Base64.getMimeEncoder().encodeToString(der)
                + "\n-----END X509 CRL-----\n";
    }

    private Issued write(String file, CertificateBuilder builder, String... names) throws Exception {
        return write(
                file,
                builder.addExtensionOctetString(SUBJECT_ALTERNATIVE_NAME, false, dnsNames(names))
                        .buildIssuedBy(root));
    }

    private Issued write(String file, X509Bundle bundle) throws Exception {
        Path cert = Files.createTempFile(directory, file.replace('*', '_'), ".crt");
        Files.writeString(cert, bundle.getCertificatePathPEM());
        return new Issued(bundle, cert, Files.writeString(Path.of(cert + ".key"), bundle.getPrivateKeyPEM()));
    }

    /** GeneralNames in DER: the builder takes no wildcard. All of them have less than 128 bytes. */
    private static byte[] dnsNames(String... names) {
        ByteArrayOutputStream inner = new ByteArrayOutputStream();
        for (String name : names) {
            inner.write(0x82);
            inner.write(name.length());
            inner.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        }
        ByteArrayOutputStream outer = new ByteArrayOutputStream();
        outer.write(0x30);
        outer.write(inner.size());
        outer.writeBytes(inner.toByteArray());
        return outer.toByteArray();
    }

    /** Makes a client's side of TLS that trusts this authority only, and shows a certificate if there is one. */
    public SSLContext client(@Nullable Issued identity) throws Exception {
        KeyManager[] keys = identity == null
                ? null
                : identity.bundle().toKeyManagerFactory().getKeyManagers();
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, root.toTrustManagerFactory().getTrustManagers(), new SecureRandom());
        return context;
    }

    /** Connects to a port of this host and asks for a name, or for none; the certificate must be right for it. */
    public SSLSocket connect(int port, @Nullable String serverName) throws Exception {
        SSLSocket socket = (SSLSocket) client(null)
                .getSocketFactory()
                .createSocket(
                        new Socket(InetAddress.getLoopbackAddress(), port),
                        serverName == null ? "127.0.0.1" : serverName,
                        port,
                        true);
        try {
            Sockets.configure(socket);
            SSLParameters parameters = socket.getSSLParameters();
            if (serverName != null) {
                List<SNIServerName> asked = List.of(new SNIHostName(serverName));
                parameters.setServerNames(asked);
            }
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
