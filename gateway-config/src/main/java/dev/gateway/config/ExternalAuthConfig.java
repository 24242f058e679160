package dev.gateway.config;

import java.time.Duration;
import java.util.List;
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
    @Override
    public String type() {
        return "ExternalAuth";
    }

    @Override
    public String summary() {
        return type() + ": asks " + backendRef.name() + " at " + question.summary() + "; without an answer it "
                + (onError == OnError.ALLOW ? "allows" : "refuses") + " the request";
    }

    @Override
    public List<UpstreamRef> upstreams() {
        return List.of(backendRef);
    }

    @Override
    public boolean guards() {
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

    /**
     * What the server is asked.
     *
     * @param path of the question
     * @param isPrefix whether the path of the request follows
     * @param method of the question; null for GET, or after a prefix the method of the request
     * @param allowedHeaders names of header fields that go along
     */
    public record Question(String path, boolean isPrefix, @Nullable String method, List<String> allowedHeaders) {
        public Question {
            allowedHeaders = List.copyOf(allowedHeaders);
        }

        private String summary() {
            return isPrefix ? path + " and the path of the request" : path;
        }
    }

    /**
     * What becomes of answers.
     *
     * @param allowedResponseHeaders names of fields that the request gets from a 2xx answer, and from nobody else
     * @param clientHeaders names of fields that the response gets from a 2xx answer
     * @param identityHeader the field of a 2xx answer that has the client's identity, null if none has
     * @param maxResponseBytes of the body of a refusal
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
