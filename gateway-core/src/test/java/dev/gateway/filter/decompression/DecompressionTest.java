package dev.gateway.filter.decompression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests are decompressed, and what becomes of their heads. */
class DecompressionTest {
    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final Decompression filter = new Decompression(Set.of(ContentCoding.GZIP), 1000, 100);

    private static RequestHead head(Method method, String... codings) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_LENGTH, "20");
        for (String coding : codings) {
            fields.add(FieldName.CONTENT_ENCODING, coding);
        }
        fields.add(FieldName.of("Content-Digest"), "sha-256=:x:");
        fields.add(FieldName.of("Repr-Digest"), "sha-256=:x:");
        fields.add(FieldName.of("Digest"), "sha-256=x");
        fields.add(FieldName.of("content-md5"), "x");
        return new RequestHead(method, Scheme.HTTP, new AsciiString("shop.example"), new AsciiString("/"), fields, 20);
    }

    private @Nullable BodyTransform transform(RequestHead head) {
        assertThat(filter.onRequest(head, context)).isEqualTo(Verdict.PROCEED);
        return filter.requestBody(head, context);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "x-gzip", "GZIP"})
    void theUpstreamGetsTheBodyWithoutItsCoding(String coding) throws IOException {
        RequestHead head = head(Method.POST, coding);
        BodyTransform transform = transform(head);
        assertThat(transform).isNotNull();
        assertThat(head.fields().size()).isZero();
        assertThat(head.contentLength()).isEqualTo(RequestHead.UNKNOWN_LENGTH);
        assertThat(context.held).isEqualTo(Inflaters.BYTES);
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(sent)) {
            out.write("hello".getBytes(StandardCharsets.UTF_8));
        }
        try (Pieces pieces = new Pieces(Objects.requireNonNull(transform))) {
            pieces.give(sent.toByteArray(), Input.ENDS);
            assertThat(pieces.made.toString(StandardCharsets.UTF_8)).isEqualTo("hello");
        }
        Fields trailers = new Fields();
        trailers.add(FieldName.of("Content-Digest"), "sha-256=:x:");
        trailers.add(FieldName.of("x-other"), "1");
        filter.onRequestTrailers(trailers, context);
        assertThat(trailers).hasToString("x-other: 1\n");
    }

    @Test
    void aPartOfARepresentationStaysAsItIs() {
        RequestHead head = head(Method.PUT, "gzip");
        head.fields().add(FieldName.CONTENT_RANGE, "bytes 0-19/100");
        assertThat(transform(head)).isNull();
        assertThat(head.fields().contains(FieldName.CONTENT_ENCODING)).isTrue();
        assertThat(context.held).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "br", "gzip, gzip", "gzip, br", "identity", "gzipped"})
    void otherCodingsStay(String coding) {
        RequestHead head = head(Method.POST, coding);
        assertThat(transform(head)).isNull();
        assertThat(head.fields().size()).isEqualTo(6);
        assertThat(head.contentLength()).isEqualTo(20);
        assertThat(context.held).isZero();
        Fields trailers = new Fields();
        trailers.add(FieldName.of("Content-Digest"), "sha-256=:x:");
        filter.onRequestTrailers(trailers, context);
        assertThat(trailers.size()).isEqualTo(1);
    }

    @Test
    void severalFieldsAreSeveralCodings() {
        assertThat(transform(head(Method.POST, "gzip", "gzip"))).isNull();
        assertThat(transform(head(Method.POST))).isNull();
    }

    @Test
    void aTunnelStaysAsItIs() {
        assertThat(transform(head(Method.CONNECT, "gzip"))).isNull();
        assertThat(context.held).isZero();
    }

    @Test
    void withoutMemoryForItTheRequestIsRefused() {
        context.room = Inflaters.BYTES - 1;
        assertThat(filter.onRequest(head(Method.POST, "gzip"), context))
                .isInstanceOfSatisfying(
                        Verdict.Refuse.class,
                        refusal -> assertThat(refusal.failure().cause()).isEqualTo(Cause.OVERLOAD));
    }
}
