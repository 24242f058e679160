package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.FilterConfig.UpstreamRef;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;

/** Reference to an upstream that a filter sends requests to, key by key. */
public final class UpstreamRefSchema {
    /** Reference. */
    public static final ObjectType<UpstreamRef> UPSTREAM_REF =
            ObjectType.of("upstream reference", "An upstream that a filter sends requests to.", o -> {
                var name = o.required("name", Types.NAME, UpstreamRef::name, "Name of the upstream.");
                return v -> new UpstreamRef(v.position(), v.get(name));
            });

    private UpstreamRefSchema() {}
}
