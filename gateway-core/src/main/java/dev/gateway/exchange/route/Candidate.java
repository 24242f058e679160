package dev.gateway.exchange.route;

import com.google.re2j.Pattern;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A compiled match among those of the same hosts and path: what is left to check once the path is found. */
final class Candidate {
    /** The Gateway API's order among matches of equal host and path. */
    static final Comparator<Candidate> SPECIFICITY = Comparator.<Candidate, Boolean>comparing(c -> c.method == null)
            .thenComparing(c -> -c.headers.length)
            .thenComparing(c -> -c.queries.length);

    /** The same, and of equal ones the first in the file. */
    static final Comparator<Candidate> PRECEDENCE = SPECIFICITY.thenComparing(c -> c.position);

    final Router.Match result;
    private final int position;
    private final @Nullable Method method;
    private final HeaderMatcher[] headers;
    private final QueryMatcher[] queries;

    /**
     * Compiles a match.
     *
     * @param position its place in the file
     */
    Candidate(MatchConfig match, Router.Match result, int position) {
        this.result = result;
        this.position = position;
        this.method = match.method() == null ? null : Method.of(match.method());
        this.headers = match.headers().stream().map(HeaderMatcher::of).toArray(HeaderMatcher[]::new);
        this.queries = match.queryParams().stream().map(QueryMatcher::of).toArray(QueryMatcher[]::new);
    }

    /** Returns the first of the candidates, which are in order of precedence, that the request passes, or null. */
    static @Nullable Candidate first(Candidate[] candidates, RequestHead head) {
        for (Candidate candidate : candidates) {
            if (candidate.accepts(head)) {
                return candidate;
            }
        }
        return null;
    }

    static Candidate[] sorted(List<Candidate> candidates) {
        return candidates.stream().sorted(PRECEDENCE).toArray(Candidate[]::new);
    }

    boolean accepts(RequestHead head) {
        if (method != null && !method.equals(head.routedMethod())) {
            return false;
        }
        for (HeaderMatcher header : headers) {
            if (!header.accepts(head)) {
                return false;
            }
        }
        for (QueryMatcher query : queries) {
            if (!query.accepts(head)) {
                return false;
            }
        }
        return true;
    }

    /** Adds what {@link #accepts} finds wanting, all of it. */
    void addMisses(RequestHead head, List<Miss> misses) {
        if (method != null && !method.equals(head.routedMethod())) {
            misses.add(new Miss(Miss.Part.METHOD, 0));
        }
        for (int i = 0; i < headers.length; i++) {
            if (!headers[i].accepts(head)) {
                misses.add(new Miss(Miss.Part.HEADER, i));
            }
        }
        for (int i = 0; i < queries.length; i++) {
            if (!queries[i].accepts(head)) {
                misses.add(new Miss(Miss.Part.QUERY, i));
            }
        }
    }

    private record HeaderMatcher(FieldName name, AsciiString value, @Nullable Pattern pattern) {
        static HeaderMatcher of(ValueMatch header) {
            return new HeaderMatcher(
                    FieldName.of(header.name()),
                    new AsciiString(header.value(), StandardCharsets.UTF_8),
                    header.isRegex() ? Pattern.compile(header.value()) : null);
        }

        boolean accepts(RequestHead head) {
            if (name.id() == FieldName.HOST.id()) {
                AsciiString authority = head.authority();
                return pattern == null
                        ? authority.contentEqualsIgnoreCase(value)
                        : pattern.matcher(authority).matches();
            }
            Fields fields = head.fields();
            for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
                if (pattern == null
                        ? fields.valueEquals(i, value)
                        : pattern.matcher(text(fields.value(i))).matches()) {
                    return true;
                }
            }
            return false;
        }

        /** Returns a value as an expression reads it: in UTF-8, as files of the configuration are. Hardly any has more than ASCII. */
        private static CharSequence text(AsciiString value) {
            for (int i = 0; i < value.length(); i++) {
                if (value.byteAt(i) < 0) {
                    return new String(value.array(), value.arrayOffset(), value.length(), StandardCharsets.UTF_8);
                }
            }
            return value;
        }
    }
}
