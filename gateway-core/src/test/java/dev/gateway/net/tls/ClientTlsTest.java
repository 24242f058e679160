package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.value.Position;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Both sides are handlers without a socket, which hand each other all that they write. */
@SuppressWarnings("NullAway.Init") // a field that JUnit sets
class ClientTlsTest {
    @TempDir
    Path directory;

    /** As servers with TLS 1.2 do where a path needs a certificate. */
    @Test
    void aServerMayAskForTheCertificateInALaterHandshake() throws Exception {
        X509Bundle identity = new CertificateBuilder()
                .subject("CN=gateway")
                .rsa2048()
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Files.writeString(chain, identity.getCertificatePathPEM());
        Files.writeString(key, identity.getPrivateKeyPEM());
        SslContext theirs = SslContextBuilder.forServer(
                        identity.getKeyPair().getPrivate(), identity.getCertificatePath())
                .sslProvider(SslProvider.JDK) // BoringSSL's servers do not renegotiate
                .protocols("TLSv1.2")
                .trustManager(identity.getCertificate())
                .build();
        TlsOffer offer = new TlsOffer(Version.TLS_1_2, Version.TLS_1_2, List.of());
        Tls settings = new Tls(Position.NOWHERE, false, null, null, chain, key, offer);
        try (ClientTls ours = new ClientTls(settings, List.of(), 0)) {
            SslHandler serverTls = theirs.newHandler(UnpooledByteBufAllocator.DEFAULT);
            EmbeddedChannel server = new EmbeddedChannel(serverTls);
            EmbeddedChannel client = new EmbeddedChannel(
                    ours.newHandler(UnpooledByteBufAllocator.DEFAULT, "localhost", 443, ClientTls.Alpn.NONE));
            exchange(client, server);
            assertThat(serverTls.handshakeFuture().isSuccess()).isTrue();

            serverTls.engine().setNeedClientAuth(true);
            Future<Channel> again = serverTls.renegotiate();
            exchange(client, server);
            assertThat(again.isSuccess()).isTrue();

            assertThat(serverTls.engine().getSession().getPeerCertificates())
                    .containsExactly(identity.getCertificate());
            client.finishAndReleaseAll();
            server.finishAndReleaseAll();
        }
    }

    /** An upstream that has been taken over sends what it likes. */
    @ParameterizedTest
    @CsvSource({"TLSv1.2, 10, true", "TLSv1.3, 10, true", "TLSv1.2, 11, false", "TLSv1.3, 11, false"})
    void aServerMaySendTenCertificatesAndNoMore(String version, int sent, boolean taken) throws Exception {
        X509Bundle ca = new CertificateBuilder()
                .subject("CN=Test CA")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle issuer = ca;
        for (int i = 1; i < sent; i++) {
            issuer = new CertificateBuilder()
                    .subject("CN=Intermediate " + i)
                    .setIsCertificateAuthority(true)
                    .buildIssuedBy(issuer);
        }
        X509Bundle own = new CertificateBuilder()
                .subject("CN=localhost")
                .addSanDnsName("localhost")
                .buildIssuedBy(issuer);
        assertThat(own.getCertificatePath()).hasSize(sent);
        SslContext theirs = SslContextBuilder.forServer(own.getKeyPair().getPrivate(), own.getCertificatePath())
                .sslProvider(SslProvider.JDK)
                .protocols(version)
                .build();
        Path caFile = Files.writeString(directory.resolve("ca.pem"), ca.getCertificatePEM());
        TlsOffer offer = new TlsOffer(Version.TLS_1_2, Version.TLS_1_3, List.of());
        Tls settings = new Tls(Position.NOWHERE, true, caFile, null, null, null, offer);
        try (ClientTls ours = new ClientTls(settings, List.of(), 0)) {
            EmbeddedChannel server = new EmbeddedChannel(theirs.newHandler(UnpooledByteBufAllocator.DEFAULT));
            SslHandler clientTls =
                    ours.newHandler(UnpooledByteBufAllocator.DEFAULT, "localhost", 443, ClientTls.Alpn.NONE);
            EmbeddedChannel client = new EmbeddedChannel(clientTls);
            try {
                exchange(client, server);
            } catch (DecoderException e) {
                assertThat(taken).isFalse(); // what one of them throws is the other's alert
            }
            assertThat(clientTls.handshakeFuture().isSuccess()).isEqualTo(taken);
            if (!taken) {
                assertThat(clientTls.handshakeFuture().cause())
                        .hasStackTraceContaining("more than 10 certificates were sent");
            }
            for (EmbeddedChannel each : List.of(client, server)) {
                each.close(); // says goodbye
                each.releaseInbound();
                each.releaseOutbound();
            }
        }
    }

    private static void exchange(EmbeddedChannel one, EmbeddedChannel other) {
        boolean more = true;
        while (more) {
            boolean there = hand(one, other);
            more = hand(other, one) || there;
        }
    }

    private static boolean hand(EmbeddedChannel from, EmbeddedChannel to) {
        boolean any = false;
        from.runPendingTasks();
        for (ByteBuf out = from.readOutbound(); out != null; out = from.readOutbound()) {
            to.writeInbound(out);
            any = true;
        }
        return any;
    }
}
