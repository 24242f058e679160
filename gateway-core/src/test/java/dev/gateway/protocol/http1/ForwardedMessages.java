package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.RequestHead;
import dev.gateway.message.RequestRules;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.path.PathNormalizer;
import dev.gateway.protocol.http1.Downstream.Received;
import dev.gateway.stream.ServerStream;
import dev.gateway.testing.Buffers;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks that what the gateway has accepted, over whatever protocol, and forwards over HTTP/1.1, is read there as the same
 * message, with nothing before or behind it. The reader is the gateway itself, which is strict.
 */
public final class ForwardedMessages {
    /** Have room for what a forwarded head has more than a received one. */
    private static final HeadLimits LARGE = new HeadLimits(64 * 1024, 128 * 1024, 400);

    private static final Http1ServerSettings SERVER =
            new Http1ServerSettings(LARGE, Downstream.SETTINGS.timeouts(), false);
    private static final Http1ClientSettings CLIENT = new Http1ClientSettings(LARGE, null);

    private ForwardedMessages() {}

    /** Checks a request that is complete, if the gateway would forward it. */
    public static void checkRequest(RequestHead head, String body, @Nullable Fields trailers) {
        if (prepare(head)) {
            Received read = read(forward(head, body, trailers), true);
            assertEquals(text(head, body, trailers), text(read.head, read.body.toString(), read.trailers));
        }
    }

    /** Checks the head of a tunnel, or of a protocol to switch to, if the gateway would forward it. */
    public static void checkTunnel(RequestHead head) {
        if (prepare(head)) {
            Received read = read(forward(head, "", null), false);
            assertEquals(text(head, "", null), text(read.head, "", null));
        }
    }

    /** Checks and changes a head as the gateway does before it forwards it. */
    private static boolean prepare(RequestHead head) {
        // Without a host, as HTTP/1.0 allows, the gateway forwards an empty one, which it does not accept itself.
        if (RequestRules.problem(head) != null || head.authority().isEmpty()) {
            return false;
        }
        AsciiString path = PathNormalizer.normalize(head.path());
        if (path == null) {
            return false;
        }
        assertEquals(path, PathNormalizer.normalize(path));
        head.setPath(path);
        head.wishFor(null);
        HopByHop.stripRequest(head.fields());
        HopByHop.stripCredentials(head.fields());
        return true;
    }

    private static String forward(RequestHead head, String body, @Nullable Fields trailers) {
        Upstream upstream = new Upstream(CLIENT);
        Upstream.Received exchange = upstream.open();
        if (trailers != null) {
            HopByHop.stripTrailers(trailers);
        }
        boolean noTrailers = trailers == null || trailers.size() == 0;
        boolean empty = body.isEmpty() && noTrailers;
        exchange.stream().head(head.copy(), empty && !head.isConnect());
        if (!empty) {
            exchange.stream().data(Buffers.of(body), noTrailers);
        }
        if (trailers != null && !noTrailers) {
            exchange.stream().trailers(trailers.copy());
        }
        exchange.stream().flush();
        String sent = upstream.sent();
        upstream.finish();
        return sent;
    }

    private static Received read(String forwarded, boolean complete) {
        Downstream server = new Downstream(SERVER);
        server.send(forwarded);
        assertEquals(1, server.requests.size(), forwarded);
        Received read = server.last();
        assertNull(read.refused, forwarded);
        assertNull(read.reset, forwarded);
        assertEquals(complete, read.complete, forwarded);
        server.finish();
        RequestHead head = read.head;
        assertNotNull(head);
        HopByHop.stripRequest(head.fields());
        if (complete) {
            assertEquals(forwarded, forward(head, read.body.toString(), read.trailers));
        }
        return read;
    }

    private static String text(@Nullable RequestHead head, String body, @Nullable Fields trailers) {
        assertNotNull(head);
        Fields fields = head.fields();
        fields.remove(FieldName.HOST);
        fields.remove(FieldName.CONTENT_LENGTH);
        String target = head.authority() + " " + head.path() + " " + head.protocol();
        return head.method() + " " + target + "\n" + fields + body + text(trailers);
    }

    private static String text(@Nullable Fields trailers) {
        return trailers == null ? "" : trailers.toString();
    }

    /** Checks a response that is complete. The last of the heads is the final one. */
    public static void checkResponse(String method, List<ResponseHead> heads, String body, @Nullable Fields trailers) {
        for (ResponseHead head : heads) {
            HopByHop.stripResponse(head.status(), head.fields());
        }
        if (trailers != null) {
            HopByHop.stripTrailers(trailers);
        }
        Downstream server = new Downstream();
        server.answer = received -> answer(received.stream, heads, body, trailers);
        server.send(method + " / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        String forwarded = server.sent();
        boolean closed = !server.channel.isOpen();
        server.finish();

        Upstream client = new Upstream(CLIENT);
        Upstream.Received read = client.open();
        read.stream().head(Upstream.request(method, -1), true);
        read.stream().flush();
        client.respond(forwarded);
        // We do not use a connection again on which a 205 announces a body, which it must not have.
        if (heads.get(heads.size() - 1).status() != 205) {
            assertEquals(closed ? 0 : 1, client.reusable, forwarded);
        }
        client.finish();
        assertNull(closed ? null : read.reset, forwarded);
        assertTrue(read.complete, forwarded);
        for (ResponseHead head : read.heads) {
            HopByHop.stripResponse(head.status(), head.fields());
        }
        assertEquals(text(heads, body, trailers), text(read.heads, read.body.toString(), read.trailers), forwarded);
    }

    private static void answer(ServerStream stream, List<ResponseHead> heads, String body, @Nullable Fields trailers) {
        boolean empty = body.isEmpty() && trailers == null;
        for (ResponseHead head : heads) {
            Fields fields = head.fields().copy();
            stream.head(
                    new ResponseHead(head.status(), head.reason(), fields, head.contentLength()),
                    empty && !head.isInterim());
        }
        if (!empty) {
            stream.data(Buffers.of(body), trailers == null);
        }
        if (trailers != null) {
            stream.trailers(trailers.copy());
        }
        stream.flush();
    }

    private static String text(List<ResponseHead> heads, String body, @Nullable Fields trailers) {
        StringBuilder text = new StringBuilder();
        for (ResponseHead head : heads) {
            head.fields().remove(FieldName.CONTENT_LENGTH);
            text.append(head.status()).append('\n').append(head.fields());
        }
        return text.append(body).append(text(trailers)).toString();
    }
}
