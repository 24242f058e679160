package dev.gateway.filter.decompression;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.coding.Algorithms;
import java.util.Set;

/** Filter type Decompression. */
public final class DecompressionFeature implements FilterFeature<DecompressionConfig> {
    static final String NAME = "Decompression";

    private static final long DEFAULT_BYTES = 10L << 20;
    private static final int DEFAULT_RATIO = 100;
    private static final int MOST_RATIO = 10_000;

    private static final ObjectType<DecompressionConfig> SETTINGS = ObjectType.of(
            "decompression section",
            "Decompresses bodies of requests, so that upstreams need not. Content-Encoding says by which algorithm. A "
                    + "body beyond a limit gets 413 with the cause body_too_large, an invalid one 400.",
            o -> {
                var algorithms = o.defaulted(
                        Algorithms.KEY,
                        Algorithms.LIST,
                        Algorithms.ALL,
                        DecompressionConfig::algorithms,
                        "Algorithms. Bodies with another coding pass unchanged. By default, br and zstd are left out "
                                + "where their libraries are missing.");
                var bytes = o.defaulted(
                        "maxBytes",
                        Types.SIZE,
                        DEFAULT_BYTES,
                        DecompressionConfig::maxBytes,
                        "Maximum size of a body, decompressed.");
                var ratio = o.defaulted(
                        "maxRatio",
                        Types.integer(1, MOST_RATIO),
                        DEFAULT_RATIO,
                        DecompressionConfig::maxRatio,
                        "How many times its size a body may become. The first 64KiB do not count.");
                return v -> {
                    v.refuseZero("maxBytes", v.get(bytes));
                    return new DecompressionConfig(
                            v.position(), v.get(algorithms), Algorithms.namedAt(v), v.get(bytes), v.get(ratio));
                };
            });

    private static final FilterType<DecompressionConfig, ?> TYPE = FilterType.of(
                    NAME, "decompression", DecompressionConfig.class, SETTINGS)
            .alsoCalled("gunzip decompressor"); // nginx, Envoy

    @Override
    public FilterType<DecompressionConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(DecompressionConfig config, FilterSite site) throws StartException {
        return new Decompression(
                Set.copyOf(Algorithms.usable(config.algorithms(), config.algorithmsAt(), site)),
                config.maxBytes(),
                config.maxRatio());
    }
}
