package dev.gateway.filter.externalauth;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.externalauth.ExternalAuthConfig.GrpcQuestion;
import dev.gateway.filter.externalauth.ExternalAuthConfig.HttpQuestion;
import dev.gateway.filter.externalauth.ExternalAuthConfig.OnError;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.observe.metrics.Exposition;
import dev.gateway.upstream.Upstream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Filter type ExternalAuth. */
public final class ExternalAuthFeature implements FilterFeature<ExternalAuthConfig> {
    static final String NAME = "ExternalAuth";

    private static final FilterType<ExternalAuthConfig, ?> TYPE = FilterType.of(
                    NAME, "externalAuth", ExternalAuthConfig.class, ExternalAuthSchema.SETTINGS)
            .checkedBy(ExternalAuthSchema::check)
            .alsoCalled("authrequest forwardauth extauthz extauth") // nginx, Traefik, Envoy
            .hinting(
                    FilterHint.Place.FILTER_TYPE,
                    "oauth2 oidc",
                    "write ExternalAuth, with a server such as oauth2-proxy");

    /** Key of what is counted of a rule. */
    private record Key(String rule) implements FilterStates.CountedKey<AuthTally> {
        @Override
        public Class<AuthTally> kind() {
            return AuthTally.class;
        }

        @Override
        public void addTo(Exposition out, AuthTally counts) {
            decided(out, "allowed", counts.allowed());
            decided(out, "denied", counts.denied());
            decided(out, "error", counts.failed());
        }

        private void decided(Exposition out, String decision, long count) {
            out.counter(
                    "gateway_external_auth_decisions",
                    "Requests that an auth server allowed, denied, or did not decide about.",
                    count,
                    "route",
                    rule,
                    "decision",
                    decision);
        }
    }

    @Override
    public FilterType<ExternalAuthConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(ExternalAuthConfig config, FilterSite site) throws StartException {
        Upstream server = site.upstream(config.backendRef().name());
        AuthPolicy policy = new AuthPolicy(
                Math.max(1, config.timeout().toMillis()),
                Math.toIntExact(config.answers().maxResponseBytes()),
                config.onError() == OnError.ALLOW);
        AuthTally tally = site.states().get(new Key(site.rule()), AuthTally::new);
        return config.question() instanceof GrpcQuestion grpc
                ? ExternalAuth.byGrpc(server, grpc(grpc, config.answers(), site.requestIds()), policy, tally)
                : ExternalAuth.byHttp(
                        server, question((HttpQuestion) config.question()), fields(config.answers()), policy, tally);
    }

    private static AuthAnswerFields fields(ExternalAuthConfig.Answers answers) {
        return new AuthAnswerFields(
                names(answers.allowedResponseHeaders()), names(answers.clientHeaders()), identity(answers));
    }

    private static GrpcAuth grpc(GrpcQuestion question, ExternalAuthConfig.Answers answers, Set<FieldName> requestIds) {
        Map<String, String> extensions = new LinkedHashMap<>();
        question.contextExtensions().forEach(each -> extensions.put(each.name(), each.value()));
        return new GrpcAuth(
                new GrpcAuth.Question(
                        names(question.allowedHeaders()),
                        known(ExternalAuthConfig.OF_QUESTIONS),
                        extensions,
                        System::currentTimeMillis),
                new GrpcAuth.Answers(
                        names(answers.allowedResponseHeaders()),
                        identity(answers),
                        Stream.concat(known(ExternalAuthConfig.OF_REQUESTS).stream(), requestIds.stream())
                                .collect(Collectors.toUnmodifiableSet()),
                        known(ExternalAuthConfig.FRAMING)));
    }

    private static @Nullable FieldName identity(ExternalAuthConfig.Answers answers) {
        String identity = answers.identityHeader();
        return identity == null ? null : FieldName.of(identity);
    }

    private static Set<FieldName> known(Set<String> names) {
        return names.stream().map(FieldName::of).collect(Collectors.toUnmodifiableSet());
    }

    private static AuthQuestion question(HttpQuestion config) {
        @Nullable Method method = config.method() == null ? null : Method.of(config.method());
        List<FieldName> sent = names(config.allowedHeaders());
        return config.isPrefix()
                ? AuthQuestion.below(config.path(), method, sent)
                : AuthQuestion.atPath(config.path(), method == null ? Method.GET : method, sent);
    }

    private static List<FieldName> names(List<String> names) {
        return names.stream().map(FieldName::of).distinct().toList();
    }
}
