package dev.gateway.filter.compression;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.DigestFields;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Response compression (RFC 9110, section 8.4): compresses responses of upstreams if the client accepts it and the response
 * allows it. Flushes whenever the upstream pauses. If memory is short, it takes a coding that needs less, or none.
 */
public final class Compression implements Filter {
    private static final FieldName ACCEPT_RANGES = FieldName.of("Accept-Ranges");
    private static final AsciiString ACCEPT_ENCODING = new AsciiString("Accept-Encoding");
    private static final AsciiString ACCEPT_ENCODING_LOWER = ACCEPT_ENCODING.toLowerCase();
    private static final AsciiString ANY = new AsciiString("*");
    private static final AsciiString NO_TRANSFORM = new AsciiString("no-transform");

    /** Server-sent events: compression would delay single events, and some libraries cannot decompress them. */
    private static final AsciiString EVENTS = new AsciiString("text/event-stream");

    /** gRPC compresses its messages itself, and gRPC-Web has trailers in its body. */
    private static final AsciiString GRPC = new AsciiString("application/grpc");

    private final CompressionConfig config;
    private final List<ContentCoding> codings;
    private final MediaTypes types;
    private final CompressedBytes count;

    /**
     * The codings that a request accepts.
     *
     * @param codings the preferred one first
     * @param request its head
     */
    private record Accepted(List<ContentCoding> codings, RequestHead request) {}

    /** The filter's note on an exchange whose response it compresses. */
    private static final Object COMPRESSED = new Object();

    /**
     * Creates the filter.
     *
     * @param codings those of the algorithms that can be used here, the preferred one first
     */
    public Compression(CompressionConfig config, List<ContentCoding> codings, CompressedBytes count) {
        this.config = config;
        this.codings = List.copyOf(codings);
        this.types = new MediaTypes(config.contentTypes());
        this.count = count;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        if (fields.hasElement(FieldName.CACHE_CONTROL, NO_TRANSFORM)) {
            return Verdict.PROCEED; // RFC 9111, section 5.2.1.6
        }
        context.keep(new Accepted(AcceptEncoding.rank(fields, codings), head));
        return Verdict.PROCEED;
    }

    @Override
    public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        if (!(context.kept() instanceof Accepted accepted) || !isEligible(head)) {
            return null;
        }
        vary(head.fields());
        if (accepted.codings.isEmpty()) {
            return null;
        }
        if (head.status() == 304) {
            if (!EntityTags.isStrongAmong(head.fields().first(FieldName.ETAG), accepted.request.fields())) {
                forget(head); // as in the stored response
            }
            return null;
        }
        if (accepted.request.method().equals(Method.HEAD)) { // HTTP/2 may send the end of the stream after the head
            describe(head, accepted.codings.get(0));
            return null;
        }
        if (last) {
            return null;
        }
        ContentCoding coding = hold(accepted.codings, context);
        if (coding == null) {
            count.skip();
            return null;
        }
        describe(head, coding);
        context.keep(COMPRESSED);
        return new Compressing(coding, config.level(), count);
    }

    /** Charges for a compressor of the first coding that memory is left for. Returns that coding, null if none fits. */
    private @Nullable ContentCoding hold(List<ContentCoding> codings, FilterContext context) {
        for (ContentCoding coding : codings) {
            if (context.tryHold(Compressors.bytes(coding, config.level()), false)) {
                return coding;
            }
        }
        return null;
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        if (context.kept() == COMPRESSED) {
            DigestFields.remove(trailers);
        }
    }

    /** Whether the filter compresses the response for clients that accept it. */
    private boolean isEligible(ResponseHead head) {
        Fields fields = head.fields();
        int status = head.status();
        if (status == 204
                || status == 205
                || status == 206
                || fields.contains(FieldName.CONTENT_RANGE)
                || fields.contains(FieldName.CONTENT_ENCODING)
                || fields.hasElement(FieldName.CACHE_CONTROL, NO_TRANSFORM)
                || (status != 304 && head.contentLength() >= 0 && head.contentLength() < config.minSize())) {
            return false;
        }
        AsciiString type = fields.first(FieldName.CONTENT_TYPE);
        if (type == null) {
            return status == 304; // it need not have a type
        }
        return types.cover(type) && !startsWith(type, EVENTS) && !startsWith(type, GRPC);
    }

    private static boolean startsWith(AsciiString value, AsciiString start) {
        return value.regionMatches(true, 0, start, 0, start.length());
    }

    /** Tells caches that the response depends on Accept-Encoding. */
    private static void vary(Fields fields) {
        if (!fields.hasElement(FieldName.VARY, ACCEPT_ENCODING_LOWER) && !fields.hasElement(FieldName.VARY, ANY)) {
            fields.add(FieldName.VARY, ACCEPT_ENCODING);
        }
    }

    /** Edits the head so that it describes the compressed body. */
    private static void describe(ResponseHead head, ContentCoding coding) {
        head.fields().add(FieldName.CONTENT_ENCODING, coding.token());
        forget(head);
    }

    /** Removes or weakens the fields that are wrong for the compressed body. */
    private static void forget(ResponseHead head) {
        Fields fields = head.fields();
        head.forgetLength();
        fields.remove(ACCEPT_RANGES); // compressing again may give other bytes, so a range makes no sense
        DigestFields.remove(fields);
        weaken(fields);
    }

    /** Makes the ETag weak: another coding of the same representation needs another strong one (RFC 9110, section 8.8.3.3). */
    private static void weaken(Fields fields) {
        AsciiString tag = fields.first(FieldName.ETAG);
        if (tag != null && tag.startsWith("\"")) {
            fields.set(FieldName.ETAG, "W/" + tag);
        }
    }
}
