package dev.gateway.filter.coding;

import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterSite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The key {@code algorithms} of filters that compress and decompress bodies: which codings they use. No state. */
public final class Algorithms {
    private static final Logger log = LoggerFactory.getLogger(Algorithms.class);

    /** Name of the key. */
    public static final String KEY = "algorithms";

    /** All codings, the preferred one first. */
    public static final List<ContentCoding> ALL =
            List.of(ContentCoding.ZSTD, ContentCoding.BR, ContentCoding.GZIP, ContentCoding.DEFLATE);

    /** Type of the key's value. */
    public static final ListType<ContentCoding> LIST =
            ListType.distinct(Types.words(byWord(), Map.of(), Map.of("brotli", "br", "zstandard", "zstd")), 1);

    private Algorithms() {}

    /** Key of whether the log tells that a coding is missing here. */
    private record Missing(ContentCoding coding) {}

    private static Map<String, ContentCoding> byWord() {
        Map<String, ContentCoding> words = new LinkedHashMap<>();
        for (ContentCoding each : ALL) {
            words.put(each.token().toString(), each);
        }
        return words;
    }

    /** Returns where the file names the codings; null if it does not, and those that are missing here are left out. */
    public static @Nullable Position namedAt(Values values) {
        return values.has(KEY) ? values.at(KEY) : null;
    }

    /** Returns codings as words, for people. */
    public static String words(List<ContentCoding> codings) {
        return codings.stream().map(each -> each.token().toString()).collect(Collectors.joining(", "));
    }

    /**
     * Returns the codings that can be used here, in their order, and loads their libraries.
     *
     * @param namedAt where the configuration names them; null if it does not, and leaves out what is missing
     */
    public static List<ContentCoding> usable(List<ContentCoding> codings, @Nullable Position namedAt, FilterSite site)
            throws StartException {
        List<ContentCoding> usable = new ArrayList<>();
        for (ContentCoding coding : codings) {
            String missing = CodecLibraries.load(coding);
            if (missing == null) {
                usable.add(coding);
            } else if (namedAt != null) {
                throw new StartException(namedAt + ": " + KEY + ": " + missing);
            } else if (!site.states()
                    .get(new Missing(coding), AtomicBoolean.class, AtomicBoolean::new)
                    .getAndSet(true)) {
                log.info("Filters Compression and Decompression do without a coding: {}", missing);
            }
        }
        return usable;
    }
}
