package dev.gateway.filter.body;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Response compression (RFC 9110, section 8.4): compresses what upstreams answer, if the client accepts it and nothing in
 * the response speaks against it. What passes is flushed whenever the upstream pauses. A response for which there is no
 * memory stays as it is.
 */
public final class Compression implements Filter {
    private static final FieldName ACCEPT_RANGES = FieldName.of("Accept-Ranges");
    private static final AsciiString ACCEPT_ENCODING = new AsciiString("Accept-Encoding");
    private static final AsciiString ACCEPT_ENCODING_LOWER = ACCEPT_ENCODING.toLowerCase();
    private static final AsciiString ANY = new AsciiString("*");
    private static final AsciiString NO_TRANSFORM = new AsciiString("no-transform");

    /** Made of events, whose readers may be far behind; browsers and libraries expect them as they are. */
    private static final AsciiString EVENTS = new AsciiString("text/event-stream");

    /** Compresses its messages itself, and gRPC-Web has trailers in its body. */
    private static final AsciiString GRPC = new AsciiString("application/grpc");

    private final Settings settings;
    private final MediaTypes types;
    private final CompressedBytes count;

    /**
     * What is compressed, and how.
     *
     * @param codings in the order of preference
     * @param minBytes responses that are announced to be smaller stay as they are
     * @param contentTypes with wildcards, as {@code text/*} and {@code application/*+json}
     * @param level from 1, which is fast, to 9
     */
    public record Settings(List<ContentCoding> codings, long minBytes, List<String> contentTypes, int level) {
        public Settings {
            codings = List.copyOf(codings);
            contentTypes = List.copyOf(contentTypes);
        }
    }

    /**
     * What a request accepts.
     *
     * @param coding null for none
     * @param head whether its method is HEAD, so that the response says what one to GET would
     */
    private record Accepted(@Nullable ContentCoding coding, boolean head) {
        static final Accepted NOTHING = new Accepted(null, false);
    }

    /** Kept of an exchange whose response is compressed. */
    private static final Object COMPRESSED = new Object();

    /** Makes the filter. */
    public Compression(Settings settings, CompressedBytes count) {
        this.settings = settings;
        this.types = new MediaTypes(settings.contentTypes);
        this.count = count;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        if (fields.hasElement(FieldName.CACHE_CONTROL, NO_TRANSFORM)) {
            return Verdict.PROCEED; // RFC 9111, section 5.2.1.6
        }
        ContentCoding coding = AcceptEncoding.choose(fields, settings.codings);
        context.keep(
                coding == null
                        ? Accepted.NOTHING
                        : new Accepted(coding, head.method().equals(Method.HEAD)));
        return Verdict.PROCEED;
    }

    @Override
    public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        if (!(context.kept() instanceof Accepted accepted) || !isEligible(head)) {
            return null;
        }
        vary(head.fields());
        ContentCoding coding = accepted.coding;
        if (coding == null) {
            return null;
        }
        if (head.status() == 304) {
            weaken(head.fields()); // as the response was that it is about
            return null;
        }
        if (last) {
            if (accepted.head) {
                describe(head, coding);
            }
            return null;
        }
        if (!context.tryHold(Deflaters.BYTES, false)) {
            count.skip();
            return null;
        }
        describe(head, coding);
        context.keep(COMPRESSED);
        return new Deflating(coding, settings.level, count);
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        if (context.kept() == COMPRESSED) {
            Digests.remove(trailers);
        }
    }

    /** Whether a client that accepts it would get the response compressed. */
    private boolean isEligible(ResponseHead head) {
        Fields fields = head.fields();
        int status = head.status();
        if (status == 204
                || status == 205
                || status == 206
                || fields.contains(FieldName.CONTENT_RANGE)
                || fields.contains(FieldName.CONTENT_ENCODING)
                || fields.hasElement(FieldName.CACHE_CONTROL, NO_TRANSFORM)
                || (head.contentLength() >= 0 && head.contentLength() < settings.minBytes)) {
            return false;
        }
        AsciiString type = fields.first(FieldName.CONTENT_TYPE);
        if (type == null) {
            return status == 304; // which need not have it
        }
        return types.cover(type) && !startsWith(type, EVENTS) && !startsWith(type, GRPC);
    }

    private static boolean startsWith(AsciiString value, AsciiString start) {
        return value.regionMatches(true, 0, start, 0, start.length());
    }

    /** Caches must not give what is compressed to who does not accept that, and the other way round. */
    private static void vary(Fields fields) {
        if (!fields.hasElement(FieldName.VARY, ACCEPT_ENCODING_LOWER) && !fields.hasElement(FieldName.VARY, ANY)) {
            fields.add(FieldName.VARY, ACCEPT_ENCODING);
        }
    }

    /** Makes the head describe the compressed body. */
    private static void describe(ResponseHead head, ContentCoding coding) {
        Fields fields = head.fields();
        head.forgetLength();
        fields.add(FieldName.CONTENT_ENCODING, coding.token());
        fields.remove(ACCEPT_RANGES); // nobody can continue a body that is compressed again each time
        Digests.remove(fields);
        weaken(fields);
    }

    /** The same representation in another coding has the same weak validator only (RFC 9110, section 8.8.3.3). */
    private static void weaken(Fields fields) {
        AsciiString tag = fields.first(FieldName.ETAG);
        if (tag != null && tag.startsWith("\"")) {
            fields.set(FieldName.ETAG, "W/" + tag);
        }
    }
}
