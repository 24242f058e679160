package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import java.util.Objects;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ends our direction of a TLS connection while the peer's records are being read: none of them may be lost. */
class TlsHalfCloseTest {
    private static final int RECORD = 16_000;

    private EmbeddedChannel client = new EmbeddedChannel();
    private EmbeddedChannel server = new EmbeddedChannel();

    /** Ends its direction at the first bytes, as a refused upload does, and counts what it reads. */
    private static final class Refusal extends ChannelInboundHandlerAdapter {
        private int received;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            boolean first = received == 0;
            received += bytes.readableBytes();
            bytes.release();
            if (first) {
                HalfClose.afterWrites(ctx);
            }
        }
    }

    /** Not the JDK's TLS 1.2, which ends both directions at once. */
    @ParameterizedTest
    @CsvSource({"OPENSSL, TLSv1.3", "OPENSSL, TLSv1.2", "JDK, TLSv1.3"})
    void readsWhatCameWithTheBytesThatAreAnswered(SslProvider provider, String version) throws Exception {
        Refusal refusal = connect(provider, version);

        for (int i = 0; i < 3; i++) {
            client.write(Unpooled.buffer(RECORD).writeZero(RECORD));
        }
        client.flush();
        ByteBuf records = sent(client);
        server.writeInbound(
                records.readBytes(RECORD / 10)); // so that the next read decrypts several records into one buffer
        server.writeInbound(records);
        server.runPendingTasks();
        assertThat(refusal.received).isEqualTo(3 * RECORD);
        assertThat(engine(server).isOutboundDone()).isTrue();

        client.writeOutbound(Unpooled.buffer(RECORD).writeZero(RECORD));
        server.writeInbound(sent(client));
        assertThat(refusal.received).isEqualTo(4 * RECORD);
    }

    private Refusal connect(SslProvider provider, String version) throws Exception {
        SslContext secured = SslContextBuilder.forServer(new CertificateBuilder()
                        .subject("CN=localhost")
                        .setIsCertificateAuthority(true)
                        .buildSelfSigned()
                        .toKeyManagerFactory())
                .sslProvider(provider)
                .protocols(version)
                .build();
        SslContext trusting = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .build();
        Refusal refusal = new Refusal();
        server = new EmbeddedChannel(secured.newHandler(server.alloc()), refusal);
        HalfClose.allow(server);
        client = new EmbeddedChannel(trusting.newHandler(client.alloc()));
        for (int i = 0; i < 10; i++) {
            server.writeInbound(sent(client));
            client.writeInbound(sent(server));
        }
        assertThat(server.pipeline().get(SslHandler.class).handshakeFuture().isSuccess())
                .isTrue();
        return refusal;
    }

    /** Takes all that a channel has sent, as one buffer. */
    private static ByteBuf sent(EmbeddedChannel channel) {
        channel.runPendingTasks();
        ByteBuf all = channel.alloc().buffer();
        for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
            all.writeBytes(each);
            each.release();
        }
        return all;
    }

    private static SSLEngine engine(EmbeddedChannel channel) {
        return Objects.requireNonNull(channel.pipeline().get(SslHandler.class)).engine();
    }

    @AfterEach
    void close() {
        client.finishAndReleaseAll();
        server.finishAndReleaseAll();
    }
}
