package dev.gateway.filter.auth;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an auth server is asked about a request: a request without a body, which has some of its fields. What decides is
 * written here as routes see it, and not copied: a client could say otherwise, and many proxies pass on what clients write.
 * Immutable.
 */
public final class AuthQuestion {
    private static final FieldName FORWARDED_METHOD = FieldName.of("X-Forwarded-Method");
    private static final FieldName FORWARDED_URI = FieldName.of("X-Forwarded-Uri");

    /** {@code Via} also for the case that the question comes back here: then it is known as a loop. */
    private static final List<FieldName> ALWAYS = List.of(
            FieldName.VIA,
            FieldName.X_REQUEST_ID,
            FieldName.TRACEPARENT,
            FieldName.TRACESTATE,
            FieldName.of("b3"),
            FieldName.of("X-B3-TraceId"),
            FieldName.of("X-B3-SpanId"),
            FieldName.of("X-B3-ParentSpanId"),
            FieldName.of("X-B3-Sampled"),
            FieldName.of("X-B3-Flags"));

    private static final byte SLASH = '/';

    private final AsciiString path;
    private final boolean isPrefix;
    private final @Nullable Method method;
    private final FieldName[] copied;

    private AuthQuestion(AsciiString path, boolean isPrefix, @Nullable Method method, List<FieldName> sent) {
        this.path = path;
        this.isPrefix = isPrefix;
        this.method = method;
        this.copied = Stream.concat(sent.stream(), ALWAYS.stream()).distinct().toArray(FieldName[]::new);
    }

    /**
     * Asks one page about all requests, by the name of the server itself.
     *
     * @param path maybe with a query
     * @param sent names of fields that go along
     */
    public static AuthQuestion atPath(String path, Method method, List<FieldName> sent) {
        return new AuthQuestion(new AsciiString(path), false, method, sent);
    }

    /**
     * Asks as the client does, with the same host, and a path with something before it.
     *
     * @param method null for the client's
     * @param sent names of fields that go along
     */
    public static AuthQuestion below(String prefix, @Nullable Method method, List<FieldName> sent) {
        String before = prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix;
        return new AuthQuestion(new AsciiString(before), true, method, sent);
    }

    /** Returns the question about a request. */
    RequestHead about(RequestHead head, boolean tls, FilterContext context) {
        Fields from = head.fields();
        Fields fields = new Fields();
        for (FieldName name : copied) {
            for (int i = from.find(name, 0); i >= 0; i = from.find(name, i + 1)) {
                fields.add(name, from.value(i));
            }
        }
        // What only trusted proxies may say is all that is left of this one.
        AsciiString proto = from.first(FieldName.X_FORWARDED_PROTO);
        fields.add(FORWARDED_METHOD, head.routedMethod().name());
        fields.add(FieldName.X_FORWARDED_PROTO, proto == null ? head.scheme() : proto);
        if (!head.authority().isEmpty()) {
            fields.add(FieldName.X_FORWARDED_HOST, head.authority());
        }
        fields.add(FORWARDED_URI, head.path());
        fields.add(FieldName.X_FORWARDED_FOR, context.client().text());
        Method asked = method == null ? head.routedMethod() : method;
        return new RequestHead(
                asked,
                Scheme.of(tls),
                isPrefix ? head.authority() : AsciiString.EMPTY_STRING,
                isPrefix ? below(head.path()) : path,
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    /** What is no path, such as the asterisk of OPTIONS, is asked about as the whole site. */
    private AsciiString below(AsciiString requested) {
        boolean isPath = !requested.isEmpty() && requested.byteAt(0) == SLASH;
        return path.concat(isPath ? requested : new AsciiString("/"));
    }
}
