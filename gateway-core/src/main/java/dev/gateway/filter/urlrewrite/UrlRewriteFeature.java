package dev.gateway.filter.urlrewrite;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.PathRewriteSchema;

/** Filter type URLRewrite. */
public final class UrlRewriteFeature implements FilterFeature<UrlRewriteConfig> {
    static final String NAME = "URLRewrite";

    private static final ObjectType<UrlRewriteConfig> SETTINGS = ObjectType.of(
            "urlRewrite section", "Changes host and path of the request before the gateway forwards it.", o -> {
                var hostname = o.optional(
                        "hostname",
                        Types.EXACT_HOSTNAME,
                        UrlRewriteConfig::hostname,
                        "Host name that the upstream gets.");
                var path = o.optional(
                        "path", PathRewriteSchema.PATH, UrlRewriteConfig::path, "Path that the upstream gets.");
                o.foreign(
                        "regex replacement",
                        "a rewrite knows no regular expressions: write path: {type: ReplacePrefixMatch, replacePrefixMatch: …}");
                o.foreign("host", "hostname");
                return v -> new UrlRewriteConfig(v.position(), v.find(hostname), v.find(path));
            });

    private static final FilterType<UrlRewriteConfig, ?> TYPE = FilterType.of(
                    NAME, "urlRewrite", UrlRewriteConfig.class, SETTINGS)
            .checkedBy(UrlRewriteFeature::check)
            .alsoCalled("addprefix replacepath stripprefix rewrite") // Traefik, nginx
            .hinting(
                    FilterHint.Place.RULE,
                    "rewriteTarget rewrite",
                    "write filters: [{type: URLRewrite, urlRewrite: …}]")
            .hinting(FilterHint.Place.RULE, "host", "write filters: [{type: URLRewrite, urlRewrite: {hostname: …}}]");

    @Override
    public FilterType<UrlRewriteConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(UrlRewriteConfig config, FilterSite site) {
        return new UrlRewrite(config.hostname(), PathRewrite.of(config.path()));
    }

    /** A new path is made of the normal form, and of the only path there is. */
    private static void check(UrlRewriteConfig filter, RuleSite site) {
        FilterConfig.PathRewrite path = filter.path();
        RuleConfig.Forwarding forwarding = site.rule().forwarding();
        if (path != null && !(forwarding.normalizePath() && forwarding.mergeSlashes())) {
            site.error(
                    path.position(),
                    "URLRewrite changes the normal form of the path, so it has no meaning with "
                            + (forwarding.normalizePath() ? "mergeSlashes" : "normalizePath") + ": false");
        }
        boolean redirects = site.rule().filters().stream()
                .filter(each -> each.answer() != 0)
                .limit(1)
                .anyMatch(FilterConfig::redirects);
        if (redirects) {
            site.error(
                    filter.position(),
                    "a rule cannot have both URLRewrite and RequestRedirect: give the redirect its own path");
        }
    }
}
