package dev.gateway.config.yaml.schema;

import dev.gateway.config.AccessConfig.ApiKey;
import dev.gateway.config.AccessConfig.BasicAuth;
import dev.gateway.config.AccessConfig.Cors;
import dev.gateway.config.AccessConfig.IpAccess;
import dev.gateway.config.BodyConfig.BodyLimit;
import dev.gateway.config.BodyConfig.Compression;
import dev.gateway.config.BodyConfig.Decompression;
import dev.gateway.config.ClientCertificateConfig;
import dev.gateway.config.ErrorPagesConfig;
import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.DirectResponse;
import dev.gateway.config.FilterConfig.RequestHeaderModifier;
import dev.gateway.config.FilterConfig.RequestRedirect;
import dev.gateway.config.FilterConfig.ResponseHeaderModifier;
import dev.gateway.config.FilterConfig.UrlRewrite;
import dev.gateway.config.FilterDeclaration;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.JwtConfig;
import dev.gateway.config.PluginFilterConfig;
import dev.gateway.config.RateLimitConfig;
import dev.gateway.config.RequestMirrorConfig;
import dev.gateway.config.UncheckedFilterConfig;
import dev.gateway.plugin.FilterPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Filter types: the table of what a filter may be, from which reading, the JSON Schema, printing and the reference follow.
 * In the order in which requests pass them, which {@code FilterOrder} gives the reasons for.
 */
public final class FilterTypes {
    private static final Pattern TYPE_NAME = Pattern.compile("[A-Z][A-Za-z0-9]{0,62}");

    /** The types of the gateway itself. */
    public static final FilterTypes BUILT_IN = new FilterTypes(List.of(
            FilterType.of("ErrorPages", "errorPages", ErrorPagesConfig.class, ErrorPagesSchema.ERROR_PAGES),
            FilterType.of("IPAccess", "ipAccess", IpAccess.class, IpAccessSchema.IP_ACCESS),
            FilterType.of("CORS", "cors", Cors.class, CorsSchema.CORS).checkedBy(CorsSchema::check),
            FilterType.of(
                            "ClientCertificate",
                            "clientCertificate",
                            ClientCertificateConfig.class,
                            ClientCertificateSchema.CLIENT_CERTIFICATE)
                    .checkedBy(ClientCertificateSchema::check),
            FilterType.of("BasicAuth", "basicAuth", BasicAuth.class, AuthFilterSchema.BASIC),
            FilterType.of("APIKey", "apiKey", ApiKey.class, AuthFilterSchema.API_KEY),
            FilterType.of("JWT", "jwt", JwtConfig.class, JwtSchema.JWT).checkedBy(JwtSchema::check),
            FilterType.of("ExternalAuth", "externalAuth", ExternalAuthConfig.class, ExternalAuthSchema.EXTERNAL_AUTH)
                    .checkedBy(ExternalAuthSchema::check),
            FilterType.of("RateLimit", "rateLimit", RateLimitConfig.class, RateLimitSchema.RATE_LIMIT)
                    .checkedBy(RateLimitSchema::check),
            FilterType.of("BodyLimit", "bodyLimit", BodyLimit.class, BodyFilterSchema.LIMIT)
                    .checkedBy(BodyFilterSchema::check),
            FilterType.of("RequestRedirect", "requestRedirect", RequestRedirect.class, RewriteSchema.REDIRECT),
            FilterType.of("DirectResponse", "directResponse", DirectResponse.class, DirectResponseSchema.DIRECT),
            FilterType.of("Decompression", "decompression", Decompression.class, BodyFilterSchema.DECOMPRESSION),
            FilterType.of("Compression", "compression", Compression.class, BodyFilterSchema.COMPRESSION),
            new FilterType<>(
                    "RequestHeaderModifier",
                    "requestHeaderModifier",
                    RequestHeaderModifier.class,
                    HeaderEditsSchema.EDITS,
                    RequestHeaderModifier::new,
                    RequestHeaderModifier::edits),
            FilterType.of("URLRewrite", "urlRewrite", UrlRewrite.class, RewriteSchema.REWRITE)
                    .checkedBy(RewriteSchema::check),
            FilterType.of(
                            "RequestMirror",
                            "requestMirror",
                            RequestMirrorConfig.class,
                            RequestMirrorSchema.REQUEST_MIRROR)
                    .checkedBy(RequestMirrorSchema::check),
            FilterType.of(
                    "ResponseHeaderModifier",
                    "responseHeaderModifier",
                    ResponseHeaderModifier.class,
                    HeaderEditsSchema.RESPONSE)));

    /** The types of the gateway itself, where filters of all other types are not checked: a warning reports each. */
    public static final FilterTypes AND_UNCHECKED = new FilterTypes(BUILT_IN.all, Others.WARNED_OF);

    /** The same without a warning, for readers who want to know something else of the configuration. */
    public static final FilterTypes AND_IGNORED = new FilterTypes(BUILT_IN.all, Others.IGNORED);

    private final List<FilterType<?, ?>> all;
    private final Others others;
    private final Supplier<String> absent;

    /** What becomes of filters of other types. */
    enum Others {
        WRONG,
        WARNED_OF,
        IGNORED
    }

    private FilterTypes(List<FilterType<?, ?>> all) {
        this(all, Others.WRONG);
    }

    private FilterTypes(List<FilterType<?, ?>> all, Others others) {
        this(all, others, () -> "");
    }

    private FilterTypes(List<FilterType<?, ?>> all, Others others, Supplier<String> absent) {
        this.all = all;
        this.others = others;
        this.absent = absent;
    }

    /**
     * Returns the same types with a reason why no plugin has another.
     *
     * @param why returns it as a clause, such as "there is no directory of plugins"; asked only if a type is missing
     */
    public FilterTypes withoutOthers(Supplier<String> why) {
        return new FilterTypes(all, others, why);
    }

    /** Returns the types of the gateway itself, and those of plugins in their places. */
    public static FilterTypes with(List<? extends FilterDeclaration> plugins) {
        if (plugins.isEmpty()) {
            return BUILT_IN;
        }
        List<FilterType<?, ?>> all = new ArrayList<>();
        for (int rank = 0; rank <= BUILT_IN.all.size(); rank++) {
            for (FilterDeclaration plugin : plugins) {
                if (rank(plugin.place()) == rank) {
                    all.add(PluginSchema.type(plugin));
                }
            }
            if (rank < BUILT_IN.all.size()) {
                all.add(BUILT_IN.all.get(rank));
            }
        }
        return new FilterTypes(all);
    }

    /** Returns the types of the gateway itself, and those of plugins that a configuration uses. */
    public static FilterTypes of(GatewayConfig config) {
        return UncheckedFilterConfig.isIn(config) ? AND_UNCHECKED : with(PluginFilterConfig.declarations(config));
    }

    /**
     * Returns the key that holds the settings of a type of a plugin.
     *
     * @throws IllegalArgumentException if the type cannot have this name; the message says why
     */
    public static String keyOf(String type) {
        if (!TYPE_NAME.matcher(type).matches()) {
            throw new IllegalArgumentException("the filter type '" + type
                    + "' needs another name: up to 63 letters and digits, first a capital letter");
        }
        String key = PluginSchema.key(type);
        boolean taken = BUILT_IN.all.stream()
                        .anyMatch(each ->
                                each.name().equalsIgnoreCase(type) || each.key().equals(key))
                || key.equals("type");
        if (taken) {
            throw new IllegalArgumentException(
                    "the filter type '" + type + "' needs another name: the gateway has this one itself");
        }
        return key;
    }

    /** Checks a filter of the gateway itself in its rule. */
    public static void check(FilterConfig filter, RuleSite site) {
        BUILT_IN.all.forEach(type -> type.check(filter, site));
    }

    /** Whether requests pass one filter before another, wherever a rule has them. */
    public static boolean runsBefore(FilterConfig filter, FilterConfig other) {
        return order(filter) < order(other);
    }

    /** Filters of plugins are between two types of the gateway, which have the even numbers. */
    private static int order(FilterConfig filter) {
        return filter instanceof PluginFilterConfig plugin
                ? 2 * rank(plugin.declaration().place()) - 1
                : 2 * BUILT_IN.names().indexOf(filter.type());
    }

    /** Returns how many types of the gateway requests pass before a place. */
    private static int rank(FilterPlace place) {
        return switch (place) {
            case ACCESS -> BUILT_IN.names().indexOf("ClientCertificate");
            case AUTHENTICATION -> BUILT_IN.names().indexOf("ExternalAuth");
            case REQUEST -> BUILT_IN.names().indexOf("RequestRedirect");
            case UPSTREAM -> BUILT_IN.all.size();
        };
    }

    List<FilterType<?, ?>> all() {
        return all;
    }

    /** Returns why no plugin has another type, empty if that is not known. */
    String absent() {
        return absent.get();
    }

    Others others() {
        return others;
    }

    /** Whether this may be a type of a plugin. */
    boolean isOther(String type) {
        return TYPE_NAME.matcher(type).matches() && !names().contains(type);
    }

    /** Returns the names of all types, in the order in which requests pass them. */
    public List<String> names() {
        return all.stream().map(FilterType::name).toList();
    }

    /** Returns the records of all types, in the same order. */
    public List<Class<?>> records() {
        return all.stream().map(FilterType::record).collect(Collectors.toUnmodifiableList());
    }
}
