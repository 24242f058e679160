package dev.gateway.assembly;

import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.ExternalAuthConfig.OnError;
import dev.gateway.filter.Filter;
import dev.gateway.filter.auth.AuthAnswerFields;
import dev.gateway.filter.auth.AuthPolicy;
import dev.gateway.filter.auth.AuthQuestion;
import dev.gateway.filter.auth.AuthTally;
import dev.gateway.filter.auth.ExternalAuth;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.observe.metrics.AuthDecisions;
import dev.gateway.process.StartException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes filters that ask a server about each request, and reads what they count. */
public final class ExternalAuthFilters {
    private ExternalAuthFilters() {}

    /** Key of what is counted of a rule. */
    private record Key(String rule) {}

    static Filter filter(ExternalAuthConfig config, FilterSite site) throws StartException {
        ExternalAuthConfig.Answers answers = config.answers();
        String identity = answers.identityHeader();
        return new ExternalAuth(
                site.upstream(config.backendRef().name()),
                question(config.question()),
                new AuthAnswerFields(
                        names(answers.allowedResponseHeaders()),
                        names(answers.clientHeaders()),
                        identity == null ? null : FieldName.of(identity)),
                new AuthPolicy(
                        Conversions.millis(config.timeout()),
                        Math.toIntExact(answers.maxResponseBytes()),
                        config.onError() == OnError.ALLOW),
                site.states().get(new Key(site.rule()), AuthTally.class, AuthTally::new));
    }

    private static AuthQuestion question(ExternalAuthConfig.Question config) {
        @Nullable Method method = config.method() == null ? null : Method.of(config.method());
        List<FieldName> sent = names(config.allowedHeaders());
        return config.isPrefix()
                ? AuthQuestion.below(config.path(), method, sent)
                : AuthQuestion.atPath(config.path(), method == null ? Method.GET : method, sent);
    }

    private static List<FieldName> names(List<String> names) {
        return names.stream().map(FieldName::of).distinct().toList();
    }

    /** Reads what auth servers have decided about requests of the active configuration, by rule. */
    public static void readDecisions(FilterStates states, AuthDecisions decisions) {
        states.forEach(AuthTally.class, (key, tally) -> {
            if (key instanceof Key of) {
                decisions.decided(of.rule, "allowed", tally.allowed());
                decisions.decided(of.rule, "denied", tally.denied());
                decisions.decided(of.rule, "error", tally.failed());
            }
        });
    }
}
