package dev.gateway.config.yaml.schema;

import dev.gateway.config.BodyConfig.Algorithm;
import dev.gateway.config.BodyConfig.Compression;
import dev.gateway.config.BodyConfig.Decompression;
import dev.gateway.config.Position;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Filters that compress and decompress bodies, key by key. */
final class BodyFilterSchema {
    private static final long DEFAULT_DECOMPRESSED = 10L << 20;
    private static final int DEFAULT_RATIO = 100;
    private static final int DEFAULT_LEVEL = 4;
    private static final int MOST_RATIO = 10_000;

    private static final ScalarType<Algorithm> ALGORITHM =
            Types.words(algorithms(), Map.of(), Map.of("brotli", "br", "zstandard", "zstd"));

    private static final ListType<Algorithm> ALGORITHMS = ListType.distinct(ALGORITHM, 1);

    private static final String TYPE_PATTERN = "(\\*|%1$s)/(\\*|(\\*\\+)?%1$s)".formatted("[A-Za-z0-9!#$&^_.+-]+");

    private static final ScalarType<String> MEDIA_TYPE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + TYPE_PATTERN + ")$"),
                    "text/*",
                    (text, site) -> mediaType(text),
                    value -> value)
            .named(
                    "media type",
                    "A media type without parameters, such as text/plain. A wildcard may stand for a part, as in "
                            + "text/*, or for all of a subtype before +json.");

    private static final List<String> USUAL_TYPES = List.of(
            "text/*",
            "application/json",
            "application/*+json",
            "application/javascript",
            "application/xml",
            "application/*+xml",
            "application/wasm",
            "image/svg+xml");

    /** Settings. */
    static final ObjectType<Compression> COMPRESSION = ObjectType.of(
            "compression section",
            "Compresses responses of upstreams for clients that accept it (Accept-Encoding). Not compressed: "
                    + "responses with Content-Encoding or Content-Range, event streams, gRPC, and responses with "
                    + "Cache-Control: no-transform.",
            o -> {
                var algorithms = o.defaulted(
                        "algorithms",
                        ALGORITHMS,
                        List.of(Algorithm.ZSTD, Algorithm.BR, Algorithm.GZIP),
                        Compression::algorithms,
                        "Algorithms. The client's preference decides; if it accepts several alike, the "
                                + "gateway uses the first. By default, br and zstd are left out where their "
                                + "libraries are missing.");
                var size = o.defaulted(
                        "minSize",
                        Types.SIZE,
                        1024L,
                        Compression::minSize,
                        "Responses with a smaller Content-Length stay as they are.");
                var types = o.defaulted(
                        "contentTypes",
                        new ListType<>(MEDIA_TYPE, 1),
                        USUAL_TYPES,
                        Compression::contentTypes,
                        "Content types to compress. Most images, videos and archives are compressed already.");
                var level = o.defaulted(
                        "level",
                        Types.integer(1, 9),
                        DEFAULT_LEVEL,
                        Compression::level,
                        "How hard to try: 1 takes the least time, 9 makes the smallest responses.");
                o.foreign("minLength minContentLength", "minSize");
                return v -> {
                    return new Compression(
                            v.position(), v.get(algorithms), named(v), v.get(size), v.get(types), v.get(level));
                };
            });

    /** Settings. */
    static final ObjectType<Decompression> DECOMPRESSION = ObjectType.of(
            "decompression section",
            "Decompresses bodies of requests, so that upstreams need not. Content-Encoding says by which algorithm. A "
                    + "body beyond a limit gets 413 with the cause body_too_large, an invalid one 400.",
            o -> {
                var algorithms = o.defaulted(
                        "algorithms",
                        ALGORITHMS,
                        List.of(Algorithm.values()),
                        Decompression::algorithms,
                        "Algorithms. Bodies with another coding pass unchanged. By default, br and zstd are left out "
                                + "where their libraries are missing.");
                var bytes = o.defaulted(
                        "maxBytes",
                        Types.SIZE,
                        DEFAULT_DECOMPRESSED,
                        Decompression::maxBytes,
                        "Maximum size of a body, decompressed.");
                var ratio = o.defaulted(
                        "maxRatio",
                        Types.integer(1, MOST_RATIO),
                        DEFAULT_RATIO,
                        Decompression::maxRatio,
                        "How many times its size a body may become. The first 64KiB do not count.");
                return v -> {
                    v.refuseZero("maxBytes", v.get(bytes));
                    return new Decompression(v.position(), v.get(algorithms), named(v), v.get(bytes), v.get(ratio));
                };
            });

    private BodyFilterSchema() {}

    private static Map<String, Algorithm> algorithms() {
        Map<String, Algorithm> words = new LinkedHashMap<>();
        for (Algorithm each : Algorithm.values()) {
            words.put(each.word(), each);
        }
        return words;
    }

    private static String mediaType(String text) throws InvalidException {
        if (text.matches(TYPE_PATTERN)) {
            return text.toLowerCase(Locale.ROOT);
        }
        int semicolon = text.indexOf(';');
        String hint = semicolon > 0 && text.substring(0, semicolon).trim().matches(TYPE_PATTERN)
                ? ": leave the parameters out"
                : "";
        throw new InvalidException("expected a media type such as text/html, text/* or application/*+json, not "
                + MessageText.quote(text) + hint);
    }

    private static @Nullable Position named(Values v) {
        return v.has("algorithms") ? v.at("algorithms") : null;
    }
}
