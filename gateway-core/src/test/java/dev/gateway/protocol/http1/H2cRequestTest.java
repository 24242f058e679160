package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.RequestHead;
import dev.gateway.net.ConnectionTimeouts;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests hand their connection over to HTTP/2, and which are answered as if they had not asked. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class H2cRequestTest {
    private static final String ASKS =
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
    private static final String GET = "GET /x HTTP/1.1\r\nHost: a.test\r\n";

    private final List<String> taken = new ArrayList<>();
    private boolean accepting = true;
    private final Upgrade upgrade = new Upgrade() {
        @Override
        public boolean accepts(byte[] settings) {
            return accepting && settings.length == 6;
        }

        @Override
        public void upgrade(ChannelHandlerContext ctx, RequestHead head, byte[] settings, ByteBuf unread) {
            taken.add(head.path() + " " + settings.length + " " + unread.toString(StandardCharsets.ISO_8859_1));
            unread.release();
            ctx.pipeline().remove(ctx.handler());
        }
    };
    private final Downstream client =
            new Downstream(new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false), upgrade);

    @AfterEach
    void releaseEverything() {
        client.finish();
    }

    private void assertOrdinary(int requests) {
        assertEquals(List.of(), taken);
        assertEquals(requests, client.requests.size());
        assertTrue(client.last().complete);
        assertTrue(client.sent().contains("HTTP/1.1 200 OK\r\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "PRI * HTTP/2.0"})
    void theFirstRequestMayAsk(String ahead) {
        client.send(GET + ASKS + "\r\n" + ahead);
        assertEquals(List.of("/x 6 " + ahead), taken);
        assertEquals(0, client.requests.size());
    }

    @Test
    void soMayOneThatSaysItHasNoBody() {
        client.send(GET + ASKS + "Content-Length: 0\r\n\r\n");
        assertEquals(List.of("/x 6 "), taken);
    }

    @Test
    void soMayOneThatComesInPieces() {
        String request = GET + ASKS + "\r\n";
        client.send(request.substring(0, 30));
        client.send(request.substring(30));
        assertEquals(List.of("/x 6 "), taken);
    }

    @Test
    void noOtherRequestMay() {
        client.send(GET + "\r\n" + GET + ASKS + "\r\n");
        assertOrdinary(2);
    }

    @Test
    void whoeverTakesConnectionsOverMayDecline() {
        accepting = false;
        client.send(GET + ASKS + "\r\n");
        assertOrdinary(1);
    }

    /** The client of a proxy would send what follows past that proxy. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Via: 1.1 front",
                "Forwarded: for=192.0.2.7",
                "X-Forwarded-For: 192.0.2.7",
                "x-forwarded-proto: https",
                "X-Forwarded-Host: a.test",
                "X-Forwarded-Port: 80",
                "X-Forwarded-Server: front",
                "X_Forwarded_For: 192.0.2.7",
                "X-Real-IP: 192.0.2.7"
            })
    void whatHasPassedAProxyIsAnOrdinaryRequest(String field) {
        client.send(GET + ASKS + field + "\r\n\r\n");
        assertOrdinary(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /x HTTP/1.1\r\nHost: a.test\r\n" + ASKS + "\r\n",
                "GET /x HTTP/1.0\r\nHost: a.test\r\n" + ASKS + "\r\n",
                GET + ASKS + "Content-Length: 1\r\n\r\nx",
                GET + ASKS + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                GET + ASKS + "HTTP2-Settings: AAMAAABk\r\n\r\n",
                GET + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
                GET + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: A+/=\r\n\r\n",
                GET + "Connection: HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
                GET + "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
                GET + "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
            })
    void whatDoesNotAskProperlyIsAnOrdinaryRequest(String request) {
        client.send(request);
        assertOrdinary(1);
    }
}
