package dev.gateway.filter.decompression;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.DigestFields;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Request decompression: sends upstreams the body without its content coding. Limits stop decompression bombs. Bodies with
 * another coding, or with several, stay as they are. So do parts of a representation ({@code Content-Range}), because the
 * range counts encoded bytes.
 */
public final class Decompression implements Filter {
    private final Set<ContentCoding> codings;
    private final long maxBytes;
    private final int maxRatio;

    /** The filter's note on an exchange whose request it decompresses: digests must not be in its trailers. */
    private static final Object DECOMPRESSED = new Object();

    /**
     * Creates the filter.
     *
     * @param codings bodies with others stay as they are
     * @param maxBytes maximum size of a decompressed body
     * @param maxRatio maximum ratio of decompressed to compressed size
     */
    public Decompression(Set<ContentCoding> codings, long maxBytes, int maxRatio) {
        this.codings = Set.copyOf(codings);
        this.maxBytes = maxBytes;
        this.maxRatio = maxRatio;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        ContentCoding coding = head.isConnect() ? null : coding(head.fields());
        if (coding != null && codings.contains(coding)) {
            if (!context.tryHold(Decompressors.bytes(coding), true)) {
                return new Verdict.Refuse(DecompressionMemory.shortage());
            }
            context.keep(coding);
        }
        return Verdict.PROCEED;
    }

    private static @Nullable ContentCoding coding(Fields fields) {
        int at = fields.find(FieldName.CONTENT_ENCODING, 0);
        boolean isOne = at >= 0
                && fields.find(FieldName.CONTENT_ENCODING, at + 1) < 0
                && !fields.contains(FieldName.CONTENT_RANGE);
        return isOne ? ContentCoding.of(fields.value(at)) : null;
    }

    @Override
    public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
        if (!(context.kept() instanceof ContentCoding coding)) {
            return null;
        }
        head.forgetLength();
        head.fields().remove(FieldName.CONTENT_ENCODING);
        DigestFields.remove(head.fields());
        context.keep(DECOMPRESSED);
        DecompressionMemory memory = new DecompressionMemory(bytes -> context.tryHold(bytes, true));
        return new Decompressing(coding, maxBytes, maxRatio, memory);
    }

    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        if (context.kept() == DECOMPRESSED) {
            DigestFields.remove(trailers);
        }
    }
}
