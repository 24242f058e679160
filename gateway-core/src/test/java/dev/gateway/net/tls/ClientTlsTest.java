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
