package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.listener.TlsConfig.Protocols;
import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.value.Position;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.HandshakeFailure;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleUserEventChannelHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
class ServerTlsTest {
    private static Transport transport;
    private static X509Bundle ca;
    private static X509Bundle rsa; // of shop.test; such a key takes long to make

    @TempDir
    Path directory;

    private final BlockingQueue<Secured> secured = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong();
    private final TicketSecrets secrets = new TicketSecrets(clock::get);
    private SSLContext client;
    private Channel server;

    private record Secured(@Nullable String protocol, TlsInfo info) {}

    @BeforeAll
    static void start() throws Exception {
        transport = Transport.start(TransportKind.EPOLL, 1);
        ca = new CertificateBuilder()
                .subject("CN=Test CA")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        rsa = issue("shop.test", new CertificateBuilder().rsa2048());
    }

    @AfterAll
    static void stop() throws Exception {
        transport.stop().sync();
    }

    @BeforeEach
    void trustTheCa() throws Exception {
        client = clientContext(null);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @Test
    void aClientGetsTheProtocolItOffersAndTheNewestVersion() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.NONE));

        try (SSLSocket socket = connect("localhost", "TLSv1.3", "http/1.1")) {
            assertThat(socket.getApplicationProtocol()).isEqualTo("http/1.1");
        }
        Secured first = taken();
        assertThat(first.protocol()).isEqualTo("http/1.1");
        assertThat(first.info().protocol()).isEqualTo("TLSv1.3");
        assertThat(first.info().serverName()).isEqualTo("localhost");
        assertThat(first.info().clientSubject()).isNull();

        try (SSLSocket socket = connect("localhost", "TLSv1.2", "http/1.1", "h2")) {
            assertThat(socket.getApplicationProtocol()).isEqualTo("h2"); // the server's preference
        }
        assertThat(taken().info().protocol()).isEqualTo("TLSv1.2");
    }

    @Test
    void theServerNameChoosesTheCertificate() throws Exception {
        serve(settings(
                List.of(certificate("first.test"), certificate("shop.test"), certificate("*.shop.test")),
                ClientAuth.NONE));

        assertThat(certificateFor("first.test")).contains("first.test");
        assertThat(certificateFor("shop.test")).contains("CN=shop.test");
        assertThat(certificateFor("SHOP.test")).contains("CN=shop.test");
        assertThat(certificateFor("api.shop.test")).contains("*.shop.test");
        assertThat(certificateFor("a.api.shop.test")).contains("first.test"); // a wildcard is one label
        assertThat(certificateFor("unknown.test")).contains("first.test");
        assertThat(certificateFor(null)).contains("first.test");
    }

    /** Both orders of the files, with and without a server name, as a client that knows one kind of signature only. */
    @ParameterizedTest
    @CsvSource({
        "true, -tls1_3, ECDSA+SHA256, ECDSA",
        "true, -tls1_3, rsa_pss_rsae_sha256, RSA-PSS",
        "true, -tls1_2, ECDSA+SHA256, ECDSA",
        "true, -tls1_2, RSA+SHA256, RSA",
        "false, -tls1_3, ECDSA+SHA256, ECDSA",
        "false, -tls1_3, rsa_pss_rsae_sha256, RSA-PSS",
        "false, -tls1_2, ECDSA+SHA256, ECDSA",
        "false, -tls1_2, RSA+SHA256, RSA"
    })
    void twoKindsOfKeysForOneNameAreBothServed(boolean ecFirst, String version, String signatures, String type)
            throws Exception {
        List<CertificateRef> both = new ArrayList<>();
        both.add(files(rsa));
        both.add(ecFirst ? 0 : 1, certificate("shop.test", new CertificateBuilder().ecp256()));
        both.add(certificate("other.test"));
        int port = port(serve(settings(both, ClientAuth.NONE)));
        for (String name : List.of("-servername", "-noservername")) {
            List<String> options = new ArrayList<>(List.of(version, "-sigalgs", signatures, name));
            if (name.equals("-servername")) {
                options.add("shop.test");
            }
            assertThat(openSsl(port, options.toArray(String[]::new)))
                    .contains("Peer signature type: " + type)
                    .contains("CN = shop.test");
        }
    }

    @Test
    void aClientThatCanDoBothGetsTheCertificateThatCostsLess() throws Exception {
        serve(settings(
                List.of(files(rsa), certificate("shop.test", new CertificateBuilder().ecp256())), ClientAuth.NONE));
        for (String version : List.of("TLSv1.3", "TLSv1.2")) {
            try (SSLSocket socket = connect("shop.test", version)) {
                assertThat(socket.getSession()
                                .getPeerCertificates()[0]
                                .getPublicKey()
                                .getAlgorithm())
                        .isEqualTo("EC");
            }
        }
    }

    /** A name of its own is found before a wildcard, which serves those who cannot verify that. */
    @Test
    void aWildcardServesWhoCannotVerifyTheNamesOwnCertificate() throws Exception {
        int port = port(serve(settings(
                List.of(
                        certificate("first.test"),
                        certificate("*.shop.test", new CertificateBuilder().rsa2048()),
                        certificate("www.shop.test", new CertificateBuilder().ecp256())),
                ClientAuth.NONE)));
        assertThat(openSsl(port, "-tls1_3", "-servername", "www.shop.test")).contains("CN = www.shop.test");
        assertThat(openSsl(port, "-tls1_3", "-servername", "www.shop.test", "-sigalgs", "rsa_pss_rsae_sha256"))
                .contains("CN = *.shop.test");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"})
    void suitesForOneKindOnlyChooseThatKind(String suite) throws Exception {
        serve(TlsValues.server(
                List.of(certificate("shop.test", new CertificateBuilder().ecp256()), files(rsa)),
                new Protocols(List.of(), Version.TLS_1_2, Version.TLS_1_2, List.of(suite)),
                TlsValues.clients(ClientAuth.NONE, null),
                5000));
        try (SSLSocket socket = connect("shop.test", "TLSv1.2")) {
            assertThat(socket.getSession()
                            .getPeerCertificates()[0]
                            .getPublicKey()
                            .getAlgorithm())
                    .isEqualTo("RSA");
        }
    }

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    @Test
    void aReturningClientResumes() throws Exception {
        List<CertificateRef> two = List.of(certificate("localhost"), certificate("other.test"));
        for (String version : List.of("TLSv1.3", "TLSv1.2")) {
            Channel before = serve(settings(two, ClientAuth.NONE));
            int port = ((InetSocketAddress) before.localAddress()).getPort();
            exchange("localhost", version);
            assertThat(taken().info().resumed()).isFalse();
            exchange("localhost", version);
            assertThat(taken().info().resumed()).isTrue();
            // As after a reload: a new object with the same policy on the same address.
            before.close().sync();
            serve(settings(two, ClientAuth.NONE), port);
            exchange("localhost", version);
            assertThat(taken().info().resumed()).isTrue();
        }
    }

    @Test
    void aTicketIsTakenForTwoHoursAndNotForFour() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.NONE));
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().resumed()).isFalse();
        clock.addAndGet(TimeUnit.HOURS.toNanos(2));
        exchange("localhost", "TLSv1.3"); // which gives a new ticket
        assertThat(taken().info().resumed()).isTrue();
        clock.addAndGet(TimeUnit.HOURS.toNanos(4));
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().resumed()).isFalse();
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().resumed()).isTrue();
    }

    @Test
    void withoutTicketsNoTicketIsGivenOrTaken() throws Exception {
        List<CertificateRef> certificates = List.of(certificate("localhost"), certificate("other.test"));
        ServerTlsSettings with = settings(certificates, ClientAuth.NONE);
        ServerTlsSettings without = TlsValues.server(
                certificates, with.config().protocols(), with.config().clients(), false, with.handshakeMillis());
        Channel before = serve(with);
        int port = ((InetSocketAddress) before.localAddress()).getPort();
        exchange("localhost", "TLSv1.3"); // which gives the client a ticket
        assertThat(openSsl(port, "-tls1_3")).contains("New Session Ticket");
        assertThat(openSsl(port, "-tls1_2")).contains("session ticket:");
        secured.clear();
        before.close().sync();

        serve(without, port);
        for (int i = 0; i < 3; i++) {
            exchange("localhost", "TLSv1.3");
            assertThat(taken().info().resumed()).isFalse();
        }
        assertThat(openSsl(port, "-tls1_3")).doesNotContain("New Session Ticket");
        assertThat(openSsl(port, "-tls1_2")).doesNotContain("session ticket:");
    }

    /** Returns what the client says of a connection on which a byte has gone there and back. */
    private static String openSsl(int port, String... options) throws IOException {
        List<String> command =
                new ArrayList<>(List.of("openssl", "s_client", "-connect", "127.0.0.1:" + port, "-ign_eof", "-msg"));
        command.addAll(List.of(options));
        Process client = new ProcessBuilder(command).redirectErrorStream(true).start();
        StringBuilder said = new StringBuilder();
        try (BufferedReader reader = client.inputReader(StandardCharsets.ISO_8859_1)) {
            client.getOutputStream().write('~');
            client.getOutputStream().flush();
            for (int c = reader.read(); c >= 0 && c != '~'; c = reader.read()) {
                said.append((char) c);
            }
        } finally {
            client.destroy();
        }
        return said.toString();
    }

    @Test
    void aTicketIsNoWayAroundAClientCertificate() throws Exception {
        List<CertificateRef> certificates = List.of(certificate("localhost"));
        Channel lax = serve(settings(certificates, ClientAuth.NONE));
        int port = ((InetSocketAddress) lax.localAddress()).getPort();
        exchange("localhost", "TLSv1.3");
        taken();
        lax.close().sync();

        serve(settings(certificates, ClientAuth.REQUIRED), port);
        assertThatThrownBy(() -> exchange("localhost", "TLSv1.3")).isInstanceOf(IOException.class);
        assertThat(failures.poll(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(secured).isEmpty();
    }

    @Test
    void aRequiredClientCertificateIsVerifiedAndNamed() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.REQUIRED));

        X509Bundle alice = new CertificateBuilder().subject("CN=alice").buildIssuedBy(ca);
        client = clientContext(alice);
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().clientSubject()).isEqualTo("CN=alice");
        exchange("localhost", "TLSv1.3");
        TlsInfo resumed = taken().info();
        assertThat(resumed.handshakeNanos()).isPositive();
        assertThat(resumed)
                .isEqualTo(new TlsInfo(
                        "TLSv1.3",
                        "TLS_AES_256_GCM_SHA384",
                        "localhost",
                        "CN=alice",
                        resumed.clientChain(),
                        alice.getCertificate().getNotAfter().toInstant().toEpochMilli(),
                        true,
                        resumed.handshakeNanos()));

        client = clientContext(new CertificateBuilder()
                .subject("CN=mallory")
                .setIsCertificateAuthority(true)
                .buildSelfSigned());
        assertThatThrownBy(() -> exchange("localhost", "TLSv1.3")).isInstanceOf(IOException.class);
        client = clientContext(null);
        assertThatThrownBy(() -> exchange("localhost", "TLSv1.3")).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "TLSv1.2, Other CA, unknown_ca, no certificate of caFile",
        "TLSv1.3, Other CA, unknown_ca, no certificate of caFile",
        "TLSv1.3, Test CA, unknown_ca, no certificate of caFile" // another one of that name
    })
    void aClientIsToldWhyItsCertificateIsNotAccepted(String version, String issuer, String alert, String told)
            throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.REQUIRED));
        X509Bundle other = new CertificateBuilder()
                .subject("CN=" + issuer)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        client = stubbornContext(new CertificateBuilder().subject("CN=mallory").buildIssuedBy(other));
        assertThat(messageOfAlert(version)).contains(TlsProvider.CURRENT == SslProvider.JDK ? "certificate" : alert);
        assertThat(failures.poll(10, TimeUnit.SECONDS))
                .isNotNull()
                .hasStackTraceContaining(told)
                .hasStackTraceContaining("CN=mallory");
    }

    /** Netty leaves out what is beyond the tenth certificate, and the session keeps it. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aClientMaySendTenCertificatesAndNoMore(String version) throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.OPTIONAL));
        X509Bundle alice = new CertificateBuilder().subject("CN=alice").buildIssuedBy(ca);
        client = stubbornContext(with(alice, 9, new byte[0]));
        if (TlsProvider.CURRENT != SslProvider.JDK) { // whose servers take eight
            exchange("localhost", version);
            assertThat(Objects.requireNonNull(taken().info().clientChain()).certificates())
                    .hasSize(10);
        }
        client = stubbornContext(with(alice, 10, new byte[0]));
        assertThat(messageOfAlert(version))
                .contains(TlsProvider.CURRENT == SslProvider.JDK ? "alert" : "bad_certificate");
        Throwable failure = failures.poll(10, TimeUnit.SECONDS);
        assertThat(failure).isNotNull();
        assertThat(HandshakeFailures.of(Objects.requireNonNull(failure)))
                .isEqualTo(HandshakeFailure.CLIENT_CERTIFICATE);
        if (TlsProvider.CURRENT != SslProvider.JDK) {
            assertThat(failure).hasStackTraceContaining("more than 10 certificates were sent");
        }
        assertThat(secured).isEmpty();
    }

    @Test
    void aClientMayNotSendLargeCertificates() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.OPTIONAL));
        X509Bundle alice = new CertificateBuilder().subject("CN=alice").buildIssuedBy(ca);
        client = stubbornContext(with(alice, 2, new byte[15_000]));
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().clientSubject()).isEqualTo("CN=alice");
        client = stubbornContext(with(alice, 2, new byte[33_000]));
        assertThat(messageOfAlert("TLSv1.3"))
                .contains(TlsProvider.CURRENT == SslProvider.JDK ? "alert" : "illegal_parameter");
        Throwable failure = failures.poll(10, TimeUnit.SECONDS);
        assertThat(failure).isNotNull();
        if (TlsProvider.CURRENT != SslProvider.JDK) {
            assertThat(HandshakeFailures.of(Objects.requireNonNull(failure)))
                    .isEqualTo(HandshakeFailure.CLIENT_CERTIFICATE);
        }
        assertThat(secured).isEmpty();
    }

    /** Adds certificates that nobody needs. */
    private static X509Bundle with(X509Bundle own, int others, byte[] content) throws Exception {
        X509Certificate other = new CertificateBuilder()
                .subject("CN=other")
                .addExtensionOctetString("1.2.3.4", false, content)
                .buildIssuedBy(ca)
                .getCertificate();
        X509Certificate[] chain = new X509Certificate[1 + others];
        Arrays.fill(chain, other);
        chain[0] = own.getCertificate();
        return X509Bundle.fromCertificatePath(chain, ca.getCertificate(), own.getKeyPair());
    }

    @Test
    void aCertificateOfAServerIsNoneOfAClient() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.REQUIRED));
        client = stubbornContext(new CertificateBuilder()
                .subject("CN=mallory")
                .addExtendedKeyUsageServerAuth()
                .buildIssuedBy(ca));
        assertThat(messageOfAlert("TLSv1.3"))
                .contains(TlsProvider.CURRENT == SslProvider.JDK ? "certificate" : "unsupported_certificate");
    }

    /** A client that is still writing may get a TCP reset, which destroys the alert: then it tries again. */
    private String messageOfAlert(String version) throws Exception {
        SocketException lost = null;
        for (int attempt = 0; attempt < 200; attempt++) { // ten in a row were lost once
            try {
                exchange("localhost", version);
                break;
            } catch (SSLException e) {
                return String.valueOf(e.getMessage());
            } catch (SocketException e) {
                lost = e;
            }
        }
        throw new AssertionError("no alert", lost);
    }

    /** Makes the context of a client that shows its certificate whichever authorities the server names. */
    private SSLContext stubbornContext(X509Bundle identity) throws Exception {
        X509ExtendedKeyManager keys = new X509ExtendedKeyManager() {
            @Override
            public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
                return "own";
            }

            @Override
            public X509Certificate[] getCertificateChain(String alias) {
                return identity.getCertificatePath();
            }

            @Override
            public PrivateKey getPrivateKey(String alias) {
                return identity.getKeyPair().getPrivate();
            }

            @Override
            public String[] getClientAliases(String type, Principal[] issuers) {
                return new String[] {"own"};
            }

            @Override
            public String @Nullable [] getServerAliases(String type, Principal[] issuers) {
                return null;
            }

            @Override
            public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
                return null;
            }
        };
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("ca", ca.getCertificate());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {keys}, trust.getTrustManagers(), null);
        return context;
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aClientThatResumesHasTheWholeChainOfTheFirstHandshake(String version) throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.REQUIRED));
        X509Bundle issuer = new CertificateBuilder()
                .subject("CN=Intermediate")
                .setIsCertificateAuthority(true)
                .buildIssuedBy(ca);
        X509Bundle alice = new CertificateBuilder().subject("CN=alice").buildIssuedBy(issuer);
        client = clientContext(alice);
        for (boolean resumed : new boolean[] {false, true, true}) {
            exchange("localhost", version);
            TlsInfo info = taken().info();
            if (TlsProvider.CURRENT != SslProvider.JDK) {
                assertThat(info.resumed()).isEqualTo(resumed); // the JDK's TLS does not say
            }
            assertThat(info.clientChain()).isNotNull();
            assertThat(Objects.requireNonNull(info.clientChain()).certificates())
                    .containsExactly(alice.getCertificate(), issuer.getCertificate());
        }
    }

    /** BoringSSL resumes the session itself, and verifies nothing. */
    @Test
    void aChainOfWhichTheIssuerHasExpiredIsRefusedWhenAClientResumes() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.REQUIRED));
        Instant end = Instant.now().plusSeconds(4);
        X509Bundle issuer = new CertificateBuilder()
                .subject("CN=Intermediate")
                .notAfter(end)
                .setIsCertificateAuthority(true)
                .buildIssuedBy(ca);
        client = clientContext(new CertificateBuilder().subject("CN=alice").buildIssuedBy(issuer));
        exchange("localhost", "TLSv1.3");
        assertThat(taken().info().clientUntilMillis()).isBetween(end.toEpochMilli() - 1_000, end.toEpochMilli());
        while (Instant.now().isBefore(end.plusSeconds(1))) { // the certificate's own time
            LockSupport.parkNanos(50_000_000);
        }
        try (SSLSocket socket = connect("localhost", "TLSv1.3")) {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (IOException e) {
            assertThat(e).isNotInstanceOf(SocketTimeoutException.class);
        }
        assertThat(failures.poll(10, TimeUnit.SECONDS)).isNotNull().hasStackTraceContaining("validity check failed");
        assertThat(secured).isEmpty();
    }

    /** Such as the former certificate of an authority, which some clients send for ever. */
    @Test
    void anExpiredCertificateThatNobodyNeedsEndsNothing() throws Exception {
        X509Bundle issuer = new CertificateBuilder()
                .subject("CN=Intermediate")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle former = new CertificateBuilder()
                .subject("CN=Intermediate")
                .publicKey(issuer.getKeyPair().getPublic())
                .notBefore(Instant.now().minusSeconds(7_200))
                .notAfter(Instant.now().minusSeconds(3_600))
                .setIsCertificateAuthority(true)
                .buildIssuedBy(ca);
        X509Bundle alice = new CertificateBuilder().subject("CN=alice").buildIssuedBy(issuer);
        X509Certificate[] chain = {alice.getCertificate(), former.getCertificate()};
        Path caFile = Files.writeString(directory.resolve("issuer.pem"), issuer.getCertificatePEM());
        serve(clientsOf(List.of(certificate("localhost")), caFile));
        client = stubbornContext(X509Bundle.fromCertificatePath(chain, ca.getCertificate(), alice.getKeyPair()));
        for (int i = 0; i < 2; i++) { // the second one resumes
            exchange("localhost", "TLSv1.3");
            assertThat(taken().info().clientUntilMillis())
                    .isEqualTo(alice.getCertificate().getNotAfter().toInstant().toEpochMilli());
        }
    }

    @Test
    void anOptionalClientCertificateMayBeMissing() throws Exception {
        serve(settings(List.of(certificate("localhost")), ClientAuth.OPTIONAL));

        exchange("localhost", "TLSv1.3");
        TlsInfo none = taken().info();
        assertThat(none.clientSubject()).isNull();
        assertThat(none.clientChain()).isNull();
        client = clientContext(new CertificateBuilder().subject("CN=alice").buildIssuedBy(ca));
        exchange("localhost", "TLSv1.2");
        assertThat(taken().info().clientSubject()).isEqualTo("CN=alice");
    }

    @Test
    void protocolsAndCiphersAreTheOnesConfigured() throws Exception {
        serve(TlsValues.server(
                List.of(certificate("localhost")),
                new Protocols(
                        List.of(),
                        Version.TLS_1_2,
                        Version.TLS_1_2,
                        List.of("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")),
                TlsValues.clients(ClientAuth.NONE, null),
                5000));

        assertThatThrownBy(() -> exchange("localhost", "TLSv1.3")).isInstanceOf(SSLException.class);
        exchange("localhost", "TLSv1.2");
        Secured connection = taken();
        assertThat(connection.info().cipher()).endsWith("AES_256_GCM_SHA384");
        assertThat(connection.protocol()).isNull();
    }

    @Test
    void aClientThatDoesNotSpeakTlsOrSaysNothingIsClosed() throws Exception {
        for (int certificates = 1; certificates <= 2; certificates++) {
            List<CertificateRef> files = new ArrayList<>();
            for (int i = 0; i < certificates; i++) {
                files.add(certificate("localhost"));
            }
            Channel channel = serve(TlsValues.server(
                    files, TlsValues.spoken(List.of()), TlsValues.clients(ClientAuth.NONE, null), 100));
            int port = ((InetSocketAddress) channel.localAddress()).getPort();
            for (String text : List.of("GET / HTTP/1.1\r\n\r\n", "")) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setSoTimeout(10_000);
                    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                    socket.getInputStream().readAllBytes(); // ends, or is reset
                } catch (SocketTimeoutException e) {
                    throw new AssertionError("not closed after: " + text, e);
                } catch (IOException e) {
                    assertThat(e).hasMessageContaining("reset");
                }
                assertThat(failures.poll(10, TimeUnit.SECONDS)).isNotNull();
            }
        }
    }

    @Test
    void aClientThatEndsWithinTheHandshakeIsClosedAtOnce() throws Exception {
        for (int certificates = 1; certificates <= 2; certificates++) {
            List<CertificateRef> files = new ArrayList<>();
            for (int i = 0; i < certificates; i++) {
                files.add(certificate("localhost"));
            }
            Channel channel = serve(TlsValues.server(
                    files, TlsValues.spoken(List.of()), TlsValues.clients(ClientAuth.NONE, null), 0)); // no limit
            int port = ((InetSocketAddress) channel.localAddress()).getPort();
            for (byte[] begun : List.of(new byte[] {}, new byte[] {22, 3, 1})) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setSoTimeout(10_000);
                    socket.getOutputStream().write(begun);
                    socket.shutdownOutput();
                    assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(100); // an alert at most
                }
                assertThat(failures.poll(10, TimeUnit.SECONDS)).isNotNull();
                assertThat(failures).isEmpty();
            }
        }
    }

    @Test
    void theSelfSignedCertificateIsMadeOnceAndItsKeyIsPrivate() throws Exception {
        CertificateRef made = SelfSigned.in(directory.resolve("new"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made.keyFile())))
                .isEqualTo("rw-------");
        byte[] before = Files.readAllBytes(made.certFile());
        assertThat(SelfSigned.in(directory.resolve("new"))).isEqualTo(made);
        assertThat(Files.readAllBytes(made.certFile())).isEqualTo(before);

        serve(settings(List.of(made), ClientAuth.NONE));
        X509Certificate certificate = Pem.certificates(made.certFile())[0];
        assertThat(certificate.getSubjectAlternativeNames().stream().map(name -> String.valueOf(name.get(1))))
                .containsExactlyInAnyOrder("localhost", "127.0.0.1", "0:0:0:0:0:0:0:1");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("gateway", certificate);
        client = context(store, null);
        exchange("localhost", "TLSv1.3");
    }

    @Test
    void aSelfSignedKeyThatOthersMayHaveChosenIsReplaced() throws Exception {
        CertificateRef made = SelfSigned.in(directory.resolve("new"));
        byte[] before = Files.readAllBytes(made.certFile());
        Files.setPosixFilePermissions(made.keyFile(), PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(SelfSigned.in(directory.resolve("new"))).isEqualTo(made);
        assertThat(Files.readAllBytes(made.certFile())).isNotEqualTo(before);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made.keyFile())))
                .isEqualTo("rw-------");
    }

    @Test
    void clientsAreTheSameWhereTheAuthoritiesAreWhateverElseIsInTheirFile() throws Exception {
        List<CertificateRef> certificates = List.of(certificate("localhost"));
        Path plain = Files.writeString(directory.resolve("plain.pem"), ca.getCertificatePEM());
        Path commented = Files.writeString(directory.resolve("commented.pem"), "The CA:\n" + ca.getCertificatePEM());
        Path other = Files.writeString(
                directory.resolve("other.pem"),
                new CertificateBuilder()
                        .subject("CN=Other CA")
                        .setIsCertificateAuthority(true)
                        .buildSelfSigned()
                        .getCertificatePEM());
        try (ServerTls one = new ServerTls(clientsOf(certificates, plain));
                ServerTls same = new ServerTls(clientsOf(certificates, commented));
                ServerTls another = new ServerTls(clientsOf(certificates, other))) {
            assertThat(one.acceptsSameClients(same)).isTrue();
            assertThat(one.acceptsSameClients(another)).isFalse();
        }
    }

    private static ServerTlsSettings clientsOf(List<CertificateRef> certificates, Path authorities) {
        return TlsValues.server(
                certificates, TlsValues.spoken(List.of()), TlsValues.clients(ClientAuth.REQUIRED, authorities), 10_000);
    }

    @Test
    void keysOfEveryUsualFormatAreRead() throws Exception {
        for (String algorithm : List.of("ec", "rsa")) {
            X509Bundle bundle = (algorithm.equals("ec")
                            ? new CertificateBuilder().ecp256()
                            : new CertificateBuilder().rsa2048())
                    .subject("CN=localhost")
                    .addSanDnsName("localhost")
                    .buildIssuedBy(ca);
            byte[] pkcs8 = bundle.getKeyPair().getPrivate().getEncoded();
            Path certFile = Files.writeString(directory.resolve(algorithm + ".crt"), bundle.getCertificatePathPEM());
            Path keyFile = directory.resolve(algorithm + ".key");
            for (String format :
                    List.of("PRIVATE KEY", algorithm.equals("ec") ? "EC PRIVATE KEY" : "RSA PRIVATE KEY")) {
                byte[] der = format.equals("PRIVATE KEY") ? pkcs8 : traditional(pkcs8, directory, algorithm);
                Files.writeString(keyFile, pem(format, der));
                serve(settings(List.of(new CertificateRef(Position.NOWHERE, certFile, keyFile)), ClientAuth.NONE));
                exchange("localhost", "TLSv1.3");
            }
        }
    }

    @Test
    void aKeyOfAnotherCertificateIsAnErrorAtStart() throws Exception {
        CertificateRef one = certificate("localhost");
        CertificateRef other = certificate("localhost");

        assertThatThrownBy(() -> new ServerTls(settings(
                        List.of(new CertificateRef(Position.NOWHERE, one.certFile(), other.keyFile())),
                        ClientAuth.NONE)))
                .isInstanceOf(GeneralSecurityException.class);
    }

    private static byte[] traditional(byte[] pkcs8, Path directory, String algorithm) throws Exception {
        Path in = Files.writeString(directory.resolve("pkcs8.pem"), pem("PRIVATE KEY", pkcs8));
        Process openssl = new ProcessBuilder(
                        "openssl",
                        algorithm,
                        "-in",
                        in.toString(),
                        "-outform",
                        "DER",
                        algorithm.equals("rsa") ? "-traditional" : "-no_public")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return openssl.getInputStream().readAllBytes();
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + label
                + "-----\n";
    }

    private CertificateRef certificate(String name) throws Exception {
        return certificate(name, new CertificateBuilder().ecp256());
    }

    private CertificateRef certificate(String name, CertificateBuilder kind) throws Exception {
        return files(issue(name, kind));
    }

    private static X509Bundle issue(String name, CertificateBuilder kind) throws Exception {
        return kind.subject("CN=" + name)
                .addExtensionOctetString("2.5.29.17", false, subjectAlternativeName(name))
                .buildIssuedBy(ca);
    }

    private CertificateRef files(X509Bundle bundle) throws IOException {
        Path file = Files.createTempFile(directory, "certificate", ".pem");
        Files.writeString(file, bundle.getCertificatePathPEM());
        return new CertificateRef(
                Position.NOWHERE, file, Files.writeString(Path.of(file + ".key"), bundle.getPrivateKeyPEM()));
    }

    /** GeneralNames in DER, because the builder takes no wildcard. */
    private static byte[] subjectAlternativeName(String name) {
        byte[] der = new byte[name.length() + 4];
        der[0] = 0x30;
        der[1] = (byte) (name.length() + 2);
        der[2] = (byte) 0x82;
        der[3] = (byte) name.length();
        System.arraycopy(name.getBytes(StandardCharsets.US_ASCII), 0, der, 4, name.length());
        return der;
    }

    private ServerTlsSettings settings(List<CertificateRef> certificates, ClientAuth auth) throws IOException {
        Path caFile = Files.writeString(directory.resolve("ca.pem"), ca.getCertificatePEM());
        return TlsValues.server(
                certificates, TlsValues.spoken(List.of("h2", "http/1.1")), TlsValues.clients(auth, caFile), 5000);
    }

    private Channel serve(ServerTlsSettings settings) throws Exception {
        return serve(settings, 0);
    }

    private Channel serve(ServerTlsSettings settings, int port) throws Exception {
        ServerTls tls = new ServerTls(settings, secrets);
        open.add(tls);
        HandshakeCallback callback = new HandshakeCallback() {
            @Override
            public void onSecured(Channel channel, @Nullable String protocol, TlsInfo info) {
                secured.add(new Secured(protocol, info));
                channel.pipeline().addLast(new Echo());
            }

            @Override
            public void onHandshakeFailed(Channel channel, Throwable failure) {
                failures.add(failure);
            }
        };
        ChannelInitializer<Channel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                tls.secure(channel.pipeline(), callback);
            }
        };
        server = transport
                .server(
                        transport.loops().get(0),
                        transport.group(),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        16,
                        false)
                .childHandler(initializer)
                .bind()
                .sync()
                .channel();
        Channel bound = server;
        open.add(() -> bound.close().sync());
        return server;
    }

    private static final class Echo extends SimpleUserEventChannelHandler<ChannelInputShutdownEvent> {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }

        @Override
        protected void eventReceived(ChannelHandlerContext ctx, ChannelInputShutdownEvent event) {
            ctx.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private SSLContext clientContext(@Nullable X509Bundle identity) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("ca", ca.getCertificate());
        return context(store, identity);
    }

    private static SSLContext context(KeyStore trust, @Nullable X509Bundle identity) throws Exception {
        TrustManagerFactory trustFactory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustFactory.init(trust);
        TrustManager[] managers = trustFactory.getTrustManagers();
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManagerFactory keys = identity == null ? null : identity.toKeyManagerFactory();
        context.init(keys == null ? null : keys.getKeyManagers(), managers, null);
        return context;
    }

    private SSLSocket connect(@Nullable String name, String version, String... alpn) throws IOException {
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        // The host given here is the key of the client's cache of resumable connections.
        SSLSocket socket = (SSLSocket) client.getSocketFactory()
                .createSocket(
                        new Socket(InetAddress.getLoopbackAddress(), port),
                        name == null ? "127.0.0.1" : name,
                        port,
                        true);
        socket.setSoTimeout(10_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(new String[] {version});
        parameters.setApplicationProtocols(alpn);
        if (name != null) {
            parameters.setServerNames(List.of(new SNIHostName(name)));
        }
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** One byte there and back, so that a TLS 1.3 client has read its tickets. */
    private void exchange(String name, String version) throws IOException {
        try (SSLSocket socket = connect(name, version)) {
            socket.getOutputStream().write(7);
            assertThat(socket.getInputStream().read()).isEqualTo(7);
        }
    }

    private String certificateFor(@Nullable String name) throws Exception {
        try (SSLSocket socket = connect(name, "TLSv1.3")) {
            String subject = socket.getSession().getPeerPrincipal().getName();
            String asked = taken().info().serverName();
            assertThat(asked == null ? null : asked.toLowerCase(Locale.ROOT))
                    .isEqualTo(name == null ? null : name.toLowerCase(Locale.ROOT));
            return subject;
        }
    }

    private Secured taken() throws InterruptedException {
        Secured next = secured.poll(Duration.ofSeconds(10).toSeconds(), TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("no handshake completed; failures: " + failures);
        }
        return next;
    }
}
