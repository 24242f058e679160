package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.value.Position;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which responses are compressed, and what their heads say then. */
class CompressionTest {
    private static final Position AT = new Position("gateway.yaml", 1, 1);
    private static final String HTML = "content-type: text/html";

    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final CompressedBytes count = new CompressedBytes();
    private final Compression filter =
            filter(List.of(ContentCoding.GZIP, ContentCoding.DEFLATE), List.of("text/*", "application/*", "*/*+json"));

    private Compression filter(List<ContentCoding> codings, List<String> contentTypes) {
        return new Compression(new CompressionConfig(AT, codings, AT, 100, contentTypes, 6), codings, count);
    }

    private static ResponseHead response(int status, String... lines) {
        Fields fields = Heads.fields(lines);
        AsciiString length = fields.first(FieldName.CONTENT_LENGTH);
        return new ResponseHead(status, null, fields, length == null ? -1 : length.parseLong());
    }

    private void ask(Method method, String... lines) {
        RequestHead head = new RequestHead(
                method, Scheme.HTTP, new AsciiString("shop.example"), new AsciiString("/"), Heads.fields(lines), 0);
        assertThat(filter.onRequest(head, context)).isEqualTo(Verdict.PROCEED);
    }

    private @Nullable BodyTransform answer(ResponseHead head, boolean last) {
        return filter.responseBody(head, last, context);
    }

    private static String field(ResponseHead head, FieldName name) {
        return String.valueOf(head.fields().first(name));
    }

    private boolean isCompressed(ResponseHead head) {
        BodyTransform transform = answer(head, false);
        if (transform != null) {
            transform.close();
        }
        assertThat(head.fields().contains(FieldName.CONTENT_ENCODING)).isEqualTo(transform != null);
        return transform != null;
    }

    @Test
    void aResponseSaysWhatItHasBecome() throws IOException {
        ask(Method.GET, "accept-encoding: br, gzip");
        ResponseHead head = response(
                200,
                HTML,
                "content-length: 100",
                "etag: \"v1\"",
                "accept-ranges: bytes",
                "vary: Origin",
                "content-digest: sha-256=:x:",
                "repr-digest: sha-256=:x:",
                "digest: sha-256=x",
                "content-md5: x");
        BodyTransform transform = answer(head, false);
        assertThat(transform).isNotNull();
        assertThat(head.fields())
                .hasToString(
                        """
                        content-type: text/html
                        vary: Origin
                        Vary: Accept-Encoding
                        Content-Encoding: gzip
                        ETag: W/"v1"
                        """);
        assertThat(head.contentLength()).isEqualTo(RequestHead.UNKNOWN_LENGTH);
        assertThat(context.held).isEqualTo(Deflaters.BYTES);
        try (Pieces pieces = new Pieces(Objects.requireNonNull(transform))) {
            pieces.give("hello".getBytes(StandardCharsets.UTF_8), Input.ENDS);
            byte[] read = new GZIPInputStream(new ByteArrayInputStream(pieces.made.toByteArray())).readAllBytes();
            assertThat(read).asString(StandardCharsets.UTF_8).isEqualTo("hello");
        }
        Fields trailers = Heads.fields("Content-Digest: sha-256=:x:", "x-other: 1");
        filter.onResponseTrailers(trailers, context);
        assertThat(trailers).hasToString("x-other: 1\n");
    }

    @ParameterizedTest
    @CsvSource({"gzip, gzip", "'deflate, gzip;q=0.5', deflate", "x-gzip, gzip"})
    void theClientChooses(String accepted, String coding) {
        ask(Method.GET, "accept-encoding: " + accepted);
        ResponseHead head = response(200, HTML);
        assertThat(isCompressed(head)).isTrue();
        assertThat(field(head, FieldName.CONTENT_ENCODING)).isEqualTo(coding);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "content-encoding: br",
                "content-encoding: identity",
                "content-range: bytes 0-1/2",
                "cache-control: private, no-transform",
                "content-length: 99",
                "content-length: 0",
            })
    void whatSpeaksAgainstItCounts(String line) {
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "etag: \"v1\"", line);
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields()).hasToString(HTML + "\netag: \"v1\"\n" + line + "\n");
        assertThat(context.held).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "content-type: image/png",
                "content-type: text/event-stream",
                "content-type: text/event-stream; charset=utf-8",
                "content-type: Text/Event-Stream",
                "content-type: application/grpc",
                "content-type: application/grpc+json",
                "content-type: application/grpc-web",
                "x-no-type: 1",
            })
    void typesThatAreNotCompressedAreNot(String line) {
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, line);
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields()).hasToString(line + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "200, true",
        "201, true",
        "203, true",
        "404, true",
        "500, true",
        "204, false",
        "205, false",
        "206, false"
    })
    void theStatusCounts(int status, boolean compressed) {
        ask(Method.GET, "accept-encoding: gzip");
        assertThat(isCompressed(response(status, HTML))).isEqualTo(compressed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"identity", "br", "gzip;q=0", "gzip;q=0.5, identity"})
    void whoDoesNotAcceptItIsToldThatOthersDo(String accepted) {
        ask(Method.GET, "accept-encoding: " + accepted);
        ResponseHead head = response(200, HTML, "content-length: 100", "etag: \"v1\"", "accept-ranges: bytes");
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields())
                .hasToString(
                        """
                        content-type: text/html
                        content-length: 100
                        etag: "v1"
                        accept-ranges: bytes
                        Vary: Accept-Encoding
                        """);
        Fields trailers = Heads.fields("Content-Digest: sha-256=:x:");
        filter.onResponseTrailers(trailers, context);
        assertThat(trailers.size()).isEqualTo(1);
    }

    @Test
    void whoSaysNothingIsToldToo() {
        ask(Method.GET);
        ResponseHead head = response(200, HTML);
        assertThat(answer(head, false)).isNull();
        assertThat(field(head, FieldName.VARY)).isEqualTo("Accept-Encoding");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "accept-encoding", "Origin, Accept-Encoding"})
    void varyIsNotSaidTwice(String vary) {
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "vary: " + vary);
        assertThat(isCompressed(head)).isTrue();
        assertThat(head.fields().countElements(FieldName.VARY)).isEqualTo(vary.split(",", -1).length);
    }

    @ParameterizedTest
    @CsvSource({"W/\"v1\", W/\"v1\"", "\"v1\", W/\"v1\"", "v1, v1"})
    void aTagBecomesWeak(String before, String after) {
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "etag: " + before);
        assertThat(isCompressed(head)).isTrue();
        assertThat(field(head, FieldName.ETAG)).isEqualTo(after);
    }

    @Test
    void aResponseToHeadSaysWhatOneToGetWould() {
        ask(Method.HEAD, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "content-length: 100", "etag: \"v1\"");
        assertThat(answer(head, true)).isNull();
        assertThat(head.fields())
                .hasToString(
                        "content-type: text/html\nVary: Accept-Encoding\nContent-Encoding: gzip\nETag: W/\"v1\"\n");
        assertThat(head.contentLength()).isEqualTo(RequestHead.UNKNOWN_LENGTH);
        assertThat(context.held).isZero();
    }

    @Test
    void aResponseToGetThatIsEmptyStaysSo() {
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML);
        assertThat(answer(head, true)).isNull();
        assertThat(head.fields()).hasToString("content-type: text/html\nVary: Accept-Encoding\n");
    }

    @Test
    void whatHasNotChangedHasTheTagOfWhatItIsAbout() {
        ask(Method.GET, "accept-encoding: gzip", "if-none-match: W/\"v1\"");
        ResponseHead head = response(304, "etag: \"v1\"");
        assertThat(answer(head, true)).isNull();
        assertThat(head.fields()).hasToString("Vary: Accept-Encoding\nETag: W/\"v1\"\n");
    }

    /** Then what it has stored is what the upstream sent, as for an image, which is never compressed. */
    @ParameterizedTest
    @ValueSource(strings = {"\"v1\"", "W/\"v0\", \"v1\"", "W/\"v1\",\"v1\""})
    void whatHasNotChangedKeepsTheTagThatTheClientHasAskedFor(String tags) {
        ask(Method.GET, "accept-encoding: gzip", "if-none-match: " + tags);
        ResponseHead head = response(304, "etag: \"v1\"", "accept-ranges: bytes");
        assertThat(answer(head, true)).isNull();
        assertThat(field(head, FieldName.ETAG)).isEqualTo("\"v1\"");
        assertThat(field(head, FieldName.of("accept-ranges"))).isEqualTo("bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "W/\"v1\"", "\"v1", "\"v2\"", "\"a\", W/\"v1\"", "v1"})
    void whatHasNotChangedHasAWeakTagIfTheClientHasNotAskedForTheStrongOne(String tags) {
        ask(Method.GET, "accept-encoding: gzip", "if-none-match: " + tags);
        ResponseHead head = response(304, "etag: \"v1\"");
        assertThat(answer(head, true)).isNull();
        assertThat(field(head, FieldName.ETAG)).isEqualTo("W/\"v1\"");
    }

    @Test
    void aClientMayForbidIt() {
        ask(Method.GET, "accept-encoding: gzip", "cache-control: no-transform");
        ResponseHead head = response(200, HTML);
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields()).hasToString(HTML + "\n");
    }

    @Test
    void withoutMemoryForItAResponseStaysAsItIs() {
        context.room = 2 * Deflaters.BYTES - 1; // half of it is for what is needed
        ask(Method.GET, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "content-length: 100", "etag: \"v1\"");
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields())
                .hasToString("content-type: text/html\ncontent-length: 100\netag: \"v1\"\nVary: Accept-Encoding\n");
        assertThat(count.skipped()).isEqualTo(1);
    }

    /** 1.75 MiB for br, 1,152 KiB for zstd and 272 KiB for gzip; half of the memory is for what is needed. */
    @ParameterizedTest
    @CsvSource({"3584, br", "3583, zstd", "2304, zstd", "2303, gzip", "544, gzip"})
    void ifMemoryIsShortForACodingTheNextOneThatFitsIsTaken(int roomKib, String coding) {
        context.room = roomKib * 1024L;
        Compression all = filter(List.of(ContentCoding.ZSTD, ContentCoding.BR, ContentCoding.GZIP), List.of("text/*"));
        RequestHead request = new RequestHead(
                Method.GET,
                Scheme.HTTP,
                new AsciiString("shop.example"),
                new AsciiString("/"),
                Heads.fields("accept-encoding: gzip;q=0.5, zstd;q=0.8, br"),
                0);
        all.onRequest(request, context);
        ResponseHead head = response(200, HTML);
        Objects.requireNonNull(all.responseBody(head, false, context)).close();
        assertThat(field(head, FieldName.CONTENT_ENCODING)).isEqualTo(coding);
        assertThat(count.skipped()).isZero();
    }

    // ---- review

    /** HTTP/2: the head of a response to HEAD need not end the stream; an empty DATA frame may. */
    @Test
    void aResponseToHeadThatEndsLaterHasNoBodyEither() {
        ask(Method.HEAD, "accept-encoding: gzip");
        ResponseHead head = response(200, HTML, "content-length: 100", "etag: \"v1\"");
        assertThat(answer(head, false)).isNull();
        assertThat(head.fields())
                .hasToString(
                        "content-type: text/html\nVary: Accept-Encoding\nContent-Encoding: gzip\nETag: W/\"v1\"\n");
    }

    /** RFC 9110, section 8.6: a 304 must not have another length than the 200 would have. */
    @Test
    void whatHasNotChangedHasNotTheLengthAndTheDigestsOfTheUncompressedBody() {
        ask(Method.GET, "accept-encoding: gzip", "if-none-match: W/\"v1\"");
        ResponseHead head = response(
                304, "etag: \"v1\"", "content-length: 5000", "accept-ranges: bytes", "repr-digest: sha-256=:x:");
        assertThat(answer(head, true)).isNull();
        assertThat(head.contentLength()).isEqualTo(RequestHead.UNKNOWN_LENGTH);
        assertThat(head.fields()).hasToString("Vary: Accept-Encoding\nETag: W/\"v1\"\n");
    }
}
