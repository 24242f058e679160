package dev.gateway.filter.compression;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.coding.Algorithms;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.observe.metrics.Exposition;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Filter type Compression. */
public final class CompressionFeature implements FilterFeature<CompressionConfig> {
    static final String NAME = "Compression";

    private static final int DEFAULT_LEVEL = 4;

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

    private static final ObjectType<CompressionConfig> SETTINGS = ObjectType.of(
            "compression section",
            "Compresses responses of upstreams for clients that accept it (Accept-Encoding). Not compressed: "
                    + "responses with Content-Encoding or Content-Range, event streams, gRPC, and responses with "
                    + "Cache-Control: no-transform.",
            o -> {
                var algorithms = o.defaulted(
                        Algorithms.KEY,
                        Algorithms.LIST,
                        List.of(ContentCoding.ZSTD, ContentCoding.BR, ContentCoding.GZIP),
                        CompressionConfig::algorithms,
                        "Algorithms. The client's preference decides; if it accepts several alike, the "
                                + "gateway uses the first. By default, br and zstd are left out where their "
                                + "libraries are missing.");
                var size = o.defaulted(
                        "minSize",
                        Types.SIZE,
                        1024L,
                        CompressionConfig::minSize,
                        "Responses with a smaller Content-Length stay as they are.");
                var types = o.defaulted(
                        "contentTypes",
                        new ListType<>(MEDIA_TYPE, 1),
                        USUAL_TYPES,
                        CompressionConfig::contentTypes,
                        "Content types to compress. Most images, videos and archives are compressed already.");
                var level = o.defaulted(
                        "level",
                        Types.integer(1, 9),
                        DEFAULT_LEVEL,
                        CompressionConfig::level,
                        "How hard to try: 1 takes the least time, 9 makes the smallest responses.");
                o.foreign("minLength minContentLength", "minSize");
                return v -> new CompressionConfig(
                        v.position(),
                        v.get(algorithms),
                        Algorithms.namedAt(v),
                        v.get(size),
                        v.get(types),
                        v.get(level));
            });

    private static final FilterType<CompressionConfig, ?> TYPE = FilterType.of(
                    NAME, "compression", CompressionConfig.class, SETTINGS)
            .alsoCalled("brotli gzip compress compressor") // nginx, Traefik, Envoy
            .hinting(FilterHint.Place.RULE, "gzip compress", "write filters: [{type: Compression, compression: {}}]")
            .hinting(
                    FilterHint.Place.LISTENER,
                    "gzip brotli compress compression",
                    "write filters: [{type: Compression, compression: {}}] into a rule");

    /** Key of the counts of a rule. */
    private record Key(String rule) implements FilterStates.CountedKey<CompressedBytes> {
        @Override
        public Class<CompressedBytes> kind() {
            return CompressedBytes.class;
        }

        @Override
        public void addTo(Exposition out, CompressedBytes counts) {
            out.counter(
                    "gateway_compression_input_bytes",
                    "Bytes of compressed responses before compression.",
                    counts.input(),
                    "route",
                    rule);
            out.counter(
                    "gateway_compression_output_bytes",
                    "Bytes of compressed responses after compression.",
                    counts.output(),
                    "route",
                    rule);
            out.counter(
                    "gateway_compression_skipped",
                    "Responses that were not compressed because memory was short.",
                    counts.skipped(),
                    "route",
                    rule);
        }
    }

    @Override
    public FilterType<CompressionConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(CompressionConfig config, FilterSite site) throws StartException {
        CompressedBytes count = site.states().get(new Key(site.rule()), CompressedBytes::new);
        return new Compression(config, Algorithms.usable(config.algorithms(), config.algorithmsAt(), site), count);
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
}
