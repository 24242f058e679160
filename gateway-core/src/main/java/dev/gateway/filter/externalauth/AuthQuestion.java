package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.OddNames;
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
final class AuthQuestion {
    private static final byte SLASH = '/';

    private final AsciiString path;
    private final boolean isPrefix;
    private final @Nullable Method method;
    private final FieldName[] copied;

    private AuthQuestion(AsciiString path, boolean isPrefix, @Nullable Method method, List<FieldName> sent) {
        this.path = path;
        this.isPrefix = isPrefix;
        this.method = method;
        this.copied = Stream.concat(sent.stream(), QuestionFields.ALWAYS.stream())
                .distinct()
                .toArray(FieldName[]::new);
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
        Fields fields = new Fields();
        for (FieldName name : copied) {
            QuestionFields.copy(head.fields(), name, fields);
        }
        QuestionFields.describe(head, context, fields);
        Method asked = method == null ? head.routedMethod() : method;
        return new RequestHead(
                asked,
                Scheme.of(tls),
                isPrefix ? head.authority() : AsciiString.EMPTY_STRING,
                isPrefix ? below(head.path()) : path,
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    /** Takes out of a request what an upstream may read as a field that the question shows, but the server has not seen. */
    void removeTwins(Fields request) {
        for (FieldName name : copied) {
            OddNames.removeTwins(request, name);
        }
    }

    /** What is no path, such as the asterisk of OPTIONS, is asked about as the whole site. */
    private AsciiString below(AsciiString requested) {
        boolean isPath = !requested.isEmpty() && requested.byteAt(0) == SLASH;
        return path.concat(isPath ? requested : new AsciiString("/"));
    }
}
