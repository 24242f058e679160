package dev.gateway.filter.ipaccess;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.listener.IpAccessSchema;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;

/** Filter type IPAccess. */
public final class IpAccessFeature implements FilterFeature<IpAccessFilterConfig> {
    static final String NAME = "IPAccess";

    private static final FilterType<IpAccessFilterConfig, ?> TYPE = new FilterType<>(
                    NAME,
                    "ipAccess",
                    IpAccessFilterConfig.class,
                    IpAccessSchema.IP_ACCESS,
                    (position, addresses) -> new IpAccessFilterConfig(addresses),
                    IpAccessFilterConfig::addresses)
            .alsoCalled("allow ipallowlist ipwhitelist iprestriction ipfilter") // nginx, Traefik, Kong
            .hinting(FilterHint.Place.FILTER_TYPE, "rbac", "write IPAccess, or requiredClaims in a JWT filter")
            .hinting(
                    FilterHint.Place.MATCH,
                    "clientAddresses clientAddress clientIp sourceIp remoteAddr ip",
                    "no match has the client's address: write a filter of type IPAccess");

    @Override
    public FilterType<IpAccessFilterConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(IpAccessFilterConfig config, FilterSite site) throws StartException {
        return new IpAccess(AccessList.of(config.addresses(), site.states()));
    }
}
