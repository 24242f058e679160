package dev.gateway.filter.externalauth;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.FramingFields;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * External authorization filter settings: a server that decides about each request.
 *
 * @param timeout from the question to the end of the answer
 */
public record ExternalAuthConfig(
        Position position,
        UpstreamRef backendRef,
        Question question,
        Answers answers,
        Duration timeout,
        OnError onError)
        implements FilterConfig {
    /** Fields that frame a message, or are about one connection. */
    public static final Set<String> FRAMING = with(FramingFields.NAMES, "expect", "http2-settings");

    /** Fields that the gateway writes into questions. */
    public static final Set<String> OF_QUESTIONS = with(
            FRAMING,
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-method",
            "x-forwarded-proto",
            "x-forwarded-uri");

    /** Fields that the gateway writes into requests. */
    public static final Set<String> OF_REQUESTS = with(
            FRAMING,
            "forwarded",
            "via",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-forwarded-proto",
            "x-request-id");

    private static Set<String> with(Set<String> some, String... more) {
        return Stream.concat(some.stream(), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public String type() {
        return ExternalAuthFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": asks " + backendRef.name() + " " + question.summary() + "; without an answer it "
                + (onError == OnError.ALLOW ? "allows" : "refuses") + " the request";
    }

    @Override
    public List<UpstreamRef> upstreams() {
        return List.of(backendRef);
    }

    @Override
    public boolean repeatsCalls() {
        return true;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean decidesByPath() {
        return true;
    }

    @Override
    public boolean identifies() {
        return answers.identityHeader != null;
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /** Whether the server is asked by gRPC. */
    public boolean isGrpc() {
        return question instanceof GrpcQuestion;
    }

    /** What the server is asked, and how. */
    public sealed interface Question {
        /** Returns it for people, after the name of the server. */
        String summary();
    }

    /**
     * Asks by Envoy's gRPC.
     *
     * @param allowedHeaders names of header fields that go along, empty for all
     * @param contextExtensions what is added to each question
     */
    public record GrpcQuestion(List<String> allowedHeaders, List<Extension> contextExtensions) implements Question {
        public GrpcQuestion {
            allowedHeaders = List.copyOf(allowedHeaders);
            contextExtensions = List.copyOf(contextExtensions);
        }

        @Override
        public String summary() {
            return "by gRPC";
        }
    }

    /** A name and a value that the server gets. */
    public record Extension(String name, String value) {}

    /**
     * Asks by HTTP.
     *
     * @param path of the question
     * @param isPrefix whether the path of the request follows
     * @param method of the question; null for GET, or after a prefix the method of the request
     * @param allowedHeaders names of header fields that go along
     */
    public record HttpQuestion(String path, boolean isPrefix, @Nullable String method, List<String> allowedHeaders)
            implements Question {
        public HttpQuestion {
            allowedHeaders = List.copyOf(allowedHeaders);
        }

        @Override
        public String summary() {
            return "at " + path + (isPrefix ? " and the path of the request" : "");
        }
    }

    /**
     * What becomes of answers.
     *
     * @param allowedResponseHeaders names of fields that the request gets from a consent, and from nobody else; by
     *     gRPC empty for all
     * @param clientHeaders names of fields that the response gets from a 2xx answer; by gRPC the answer says which
     * @param identityHeader the field of a consent that has the client's identity, null if none has
     * @param maxResponseBytes of the body of a refusal; by gRPC of the whole answer
     */
    public record Answers(
            List<String> allowedResponseHeaders,
            List<String> clientHeaders,
            @Nullable String identityHeader,
            long maxResponseBytes) {
        public Answers {
            allowedResponseHeaders = List.copyOf(allowedResponseHeaders);
            clientHeaders = List.copyOf(clientHeaders);
        }
    }

    /** What happens to a request that the server did not decide about. */
    public enum OnError {
        DENY,
        ALLOW
    }
}
