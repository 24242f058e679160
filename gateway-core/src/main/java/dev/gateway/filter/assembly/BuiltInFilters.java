package dev.gateway.filter.assembly;

import dev.gateway.config.yaml.schema.filter.FilterSlot;
import dev.gateway.config.yaml.schema.filter.FilterTypeList;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.apikey.ApiKeyFeature;
import dev.gateway.filter.basicauth.BasicAuthFeature;
import dev.gateway.filter.bodylimit.BodyLimitFeature;
import dev.gateway.filter.clientcertificate.ClientCertificateFeature;
import dev.gateway.filter.compression.CompressionFeature;
import dev.gateway.filter.cors.CorsFeature;
import dev.gateway.filter.decompression.DecompressionFeature;
import dev.gateway.filter.directresponse.DirectResponse;
import dev.gateway.filter.directresponse.DirectResponseConfig;
import dev.gateway.filter.directresponse.DirectResponseFeature;
import dev.gateway.filter.errorpages.ErrorPagesFeature;
import dev.gateway.filter.externalauth.ExternalAuthFeature;
import dev.gateway.filter.headers.RequestHeaderModifierFeature;
import dev.gateway.filter.headers.ResponseHeaderModifierFeature;
import dev.gateway.filter.ipaccess.IpAccessFeature;
import dev.gateway.filter.jwt.JwtFeature;
import dev.gateway.filter.mirror.RequestMirrorFeature;
import dev.gateway.filter.ratelimit.RateLimitFeature;
import dev.gateway.filter.redirect.RequestRedirectFeature;
import dev.gateway.filter.urlrewrite.UrlRewriteFeature;
import dev.gateway.plugin.FilterPlace;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Filter chain order, which the reader of the configuration finds by {@code META-INF/services}: all filters that the gateway itself has, and the places of those of plugins. Requests pass them in this
 * order, whatever order a rule has them in; responses pass them in reverse. This is the one place that says so. Filters of one
 * type keep the order of the rule.
 */
public final class BuiltInFilters implements FilterTypeList {
    /** The filters, each with the reason for its place. */
    private static final List<Entry> IN_ORDER = List.of(
            // Before all others: it chooses the bodies of their refusals, and refuses nothing itself.
            filter(new ErrorPagesFeature()),
            // First of those that decide: it costs least, and who is refused learns nothing of the route.
            filter(new IpAccessFeature()),
            // Before all that asks who sends a request: a preflight has no credentials, and pages read refusals.
            filter(new CorsFeature()),
            // These decide by what a request looks like, before anybody asks who sends it.
            plugins(FilterPlace.ACCESS),
            // First of those that ask who the client is: it costs least, and a user is more exact than a machine.
            filter(new ClientCertificateFeature()),
            // Before all that may depend on who the client is; strangers learn nothing from what follows.
            filter(new BasicAuthFeature()),
            // Where a rule asks for both, after the user: the identity of a key is the more exact one.
            filter(new ApiKeyFeature()),
            // Last of those that find out here who the client is: a signature may cost more than the others.
            filter(new JwtFeature()),
            // These find out who the client is, where all other ways to do so have passed.
            plugins(FilterPlace.AUTHENTICATION),
            // After what is decided here, so that the server is asked about nothing that is refused anyway.
            filter(new ExternalAuthFeature()),
            // Before redirects and direct responses, so that they are limited, too; after all who identify clients.
            filter(new RateLimitFeature()),
            // After all that refuses requests whatever their bodies; before anybody waits for a body.
            filter(new BodyLimitFeature()),
            // After all that refuses requests, so that those that do not name a place see what may pass.
            plugins(FilterPlace.REQUEST),
            // Before all edits: its Location is made of the request as the client sent it.
            filter(new RequestRedirectFeature()),
            // Before all edits: they would be lost on a request that is answered here.
            filter(new DirectResponseFeature()),
            // After all that answers here: only upstreams need it, and it takes memory.
            filter(new DecompressionFeature()),
            // Before the request's fields are edited: what the client accepts decides.
            filter(new CompressionFeature()),
            // Before the path is rewritten, so that what is edited is the request that was matched.
            filter(new RequestHeaderModifierFeature()),
            // Last that edits the request: its host name wins over a Host set by a modifier.
            filter(new UrlRewriteFeature()),
            // After all that answers, refuses or edits: what is copied is what the upstream gets.
            filter(new RequestMirrorFeature()),
            // Next to the upstream, so first to see a response: others see the fields as they will be sent.
            filter(new ResponseHeaderModifierFeature()),
            // These want what the upstream gets, and its response as it is.
            plugins(FilterPlace.UPSTREAM));

    private static final Map<Class<?>, FilterFeature<?>> FEATURES = IN_ORDER.stream()
            .flatMap(entry -> Stream.ofNullable(entry.feature))
            .collect(Collectors.toUnmodifiableMap(feature -> feature.type().record(), Function.identity()));

    /** A line of the list: a filter, or a place for those of plugins. */
    private record Entry(FilterSlot slot, @Nullable FilterFeature<?> feature) {}

    private static Entry plugins(FilterPlace place) {
        return new Entry(new FilterSlot.Plugins(place), null);
    }

    private static Entry filter(FilterFeature<?> feature) {
        return new Entry(feature.type(), feature);
    }

    @Override
    public List<FilterSlot> inOrder() {
        return IN_ORDER.stream().map(Entry::slot).toList();
    }

    /** Returns the feature whose settings are of a class, null if none of the gateway itself has them. */
    public static @Nullable FilterFeature<?> of(Class<?> settings) {
        return FEATURES.get(settings);
    }

    /** Returns what answers all requests with a status and no body. */
    public static Filter answering(int status) {
        return new DirectResponse(status, List.of(), new byte[0]);
    }

    /** Returns where that filter has its place. */
    public static int orderOfAnswers() {
        return FilterTypes.order(DirectResponseConfig.class);
    }
}
