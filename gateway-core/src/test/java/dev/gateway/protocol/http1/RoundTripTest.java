package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Stream;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.Seeds;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;

/** Random messages between our client connection and our server connection, cut at random: what is sent, arrives. */
class RoundTripTest {
    private static final String[] METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"};
    private static final int EXCHANGES = 40;

    @ParameterizedTest
    @Seeds(20)
    void whatIsSentArrives(long seed) {
        Random random = new Random(seed);
        Upstream client = new Upstream();
        Downstream server = new Downstream();
        for (int i = 0; i < EXCHANGES; i++) {
            exchange(random, client, server);
        }
        assertEquals(EXCHANGES, client.reusable);
        client.finish();
        server.finish();
    }

    private static void exchange(Random random, Upstream client, Downstream server) {
        String method = METHODS[random.nextInt(METHODS.length)];
        boolean chunked = random.nextBoolean();
        String body = random.nextInt(3) == 0 ? "" : text(random, random.nextInt(3000));
        String path = "/" + token(random) + "?" + token(random);
        Fields fields = fields(random);
        String expected = fields.toString();
        RequestHead head = new RequestHead(
                Method.of(method),
                new AsciiString("http"),
                new AsciiString("a.test"),
                new AsciiString(path),
                fields,
                chunked ? -1 : body.length());
        boolean empty = body.isEmpty() && !chunked;
        Fields trailers = chunked && random.nextBoolean() ? fields(random) : null;

        int drawn = 200 + random.nextInt(300);
        int status = drawn == 205 ? 206 : drawn; // a 205 has no body, so it would be the last of its connection
        boolean answerChunked = random.nextBoolean();
        String answerBody = text(random, random.nextInt(3000));
        Fields answerFields = fields(random);
        String expectedAnswer = answerFields.toString();
        Fields answerTrailers = answerChunked && random.nextBoolean() ? fields(random) : null;
        boolean bodiless = method.equals("HEAD") || status == 204 || status == 304;
        server.answer = request -> {
            request.stream.head(
                    new ResponseHead(status, null, answerFields, answerChunked ? -1 : answerBody.length()), false);
            send(random, request.stream, bodiless ? "" : answerBody, bodiless ? null : answerTrailers, !bodiless);
            request.stream.flush();
        };

        Received exchange = client.open();
        exchange.stream().head(head, empty);
        if (!empty) {
            send(random, exchange.stream(), body, trailers, true);
        }
        exchange.stream().flush();
        pump(random, client, server);

        RequestHead seen = server.last().head;
        assertNotNull(seen);
        assertEquals(method, seen.method().toString());
        assertEquals(path, seen.path().toString());
        assertEquals("a.test", seen.authority().toString());
        assertEquals(body, server.last().body.toString());
        assertEquals(expected, withoutFraming(seen.fields()));
        assertSame(trailers, server.last().trailers);

        assertNull(exchange.reset);
        assertTrue(exchange.complete);
        ResponseHead answer = exchange.heads.get(0);
        assertEquals(status, answer.status());
        assertEquals(expectedAnswer, withoutFraming(answer.fields()));
        assertEquals(bodiless ? "" : answerBody, exchange.body.toString());
        assertSame(bodiless ? null : answerTrailers, exchange.trailers);
    }

    private static void assertSame(@Nullable Fields a, @Nullable Fields b) {
        assertEquals(a == null ? "" : a.toString(), b == null ? "" : b.toString());
    }

    private static String withoutFraming(Fields fields) {
        fields.remove(FieldName.CONTENT_LENGTH);
        fields.remove(FieldName.TRANSFER_ENCODING);
        fields.remove(FieldName.HOST);
        return fields.toString();
    }

    private static void send(Random random, Stream stream, String body, @Nullable Fields trailers, boolean cut) {
        int from = 0;
        while (cut && from < body.length() && random.nextInt(4) != 0) {
            int to = from + 1 + random.nextInt(body.length() - from);
            stream.data(bytes(body.substring(from, to)), false);
            from = to;
        }
        if (trailers != null) {
            stream.data(bytes(body.substring(from)), false);
            stream.trailers(trailers);
        } else {
            stream.data(bytes(body.substring(from)), true);
        }
    }

    private static ByteBuf bytes(String text) {
        return Buffers.of(text);
    }

    /** Carries bytes in both directions until there are none. */
    private static void pump(Random random, Upstream client, Downstream server) {
        String up = client.sent();
        String down = "";
        while (!up.isEmpty() || !down.isEmpty()) {
            for (int at = 0; at < up.length(); ) {
                int to = cut(random, at, up.length());
                server.send(up.substring(at, to));
                at = to;
            }
            down = server.sent();
            for (int at = 0; at < down.length(); ) {
                int to = cut(random, at, down.length());
                client.respond(down.substring(at, to));
                at = to;
            }
            up = client.sent();
            down = "";
        }
    }

    private static int cut(Random random, int from, int length) {
        return Math.min(length, from + 1 + random.nextInt(random.nextBoolean() ? 8 : 4000));
    }

    private static Fields fields(Random random) {
        Fields fields = new Fields();
        for (int i = random.nextInt(8); i > 0; i--) {
            fields.add(
                    FieldName.of("X-" + token(random)),
                    text(random, random.nextInt(40)).trim());
        }
        return fields;
    }

    private static String token(Random random) {
        return Long.toString(random.nextLong() >>> 1, 36);
    }

    private static String text(Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) (random.nextInt(10) == 0 ? 0xa0 + random.nextInt(90) : '!' + random.nextInt(90)));
        }
        return text.toString();
    }
}
