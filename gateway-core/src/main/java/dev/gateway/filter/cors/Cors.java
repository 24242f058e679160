package dev.gateway.filter.cors;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cross-origin resource sharing: lets pages of some origins use a route (the Gateway API's HTTPCORSFilter, and the Fetch
 * standard, section 3.2). Answers preflight requests, and writes the fields that browsers look for into every other
 * response of the route, in place of the upstream's. It refuses nothing: browsers do.
 */
public final class Cors implements Filter {
    private static final FieldName ALLOW_ORIGIN = FieldName.of("Access-Control-Allow-Origin");
    private static final FieldName ALLOW_CREDENTIALS = FieldName.of("Access-Control-Allow-Credentials");
    private static final FieldName ALLOW_METHODS = FieldName.of("Access-Control-Allow-Methods");
    private static final FieldName ALLOW_HEADERS = FieldName.of("Access-Control-Allow-Headers");
    private static final FieldName EXPOSE_HEADERS = FieldName.of("Access-Control-Expose-Headers");
    private static final FieldName MAX_AGE = FieldName.of("Access-Control-Max-Age");
    private static final FieldName REQUEST_METHOD = FieldName.of("Access-Control-Request-Method");
    private static final FieldName REQUEST_HEADERS = FieldName.of("Access-Control-Request-Headers");
    private static final FieldName[] OWN = {
        ALLOW_ORIGIN, ALLOW_CREDENTIALS, ALLOW_METHODS, ALLOW_HEADERS, EXPOSE_HEADERS, MAX_AGE
    };

    private static final AsciiString ALL = new AsciiString("*");
    private static final AsciiString TRUE = new AsciiString("true");
    private static final AsciiString ORIGIN = new AsciiString("Origin");
    private static final AsciiString ORIGIN_LOWER = new AsciiString("origin");
    private static final AsciiString PREFLIGHT_VARY =
            new AsciiString("Origin, Access-Control-Request-Method, Access-Control-Request-Headers");

    private final boolean credentials;
    private final OriginRules origins;
    private final AsciiString methods; // as it is written; empty for none
    private final AsciiString headers;
    private final AsciiString exposed;
    private final AsciiString maxAge;
    private final boolean isSameForAll; // whatever the origin of a request

    /** Makes the filter. */
    public Cors(CorsConfig config) {
        this.credentials = config.allowCredentials();
        this.origins = new OriginRules(config.allowOrigins());
        this.methods = joined(config.allowMethods());
        this.headers = joined(config.allowHeaders());
        this.exposed = joined(config.exposeHeaders());
        this.maxAge = new AsciiString(Long.toString(config.maxAge().toSeconds()));
        this.isSameForAll = origins.allowsAll() && !credentials;
    }

    private static AsciiString joined(List<String> values) {
        return new AsciiString(String.join(", ", values));
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        int at = fields.find(FieldName.ORIGIN, 0);
        boolean isOne = at >= 0 && fields.find(FieldName.ORIGIN, at + 1) < 0;
        AsciiString origin = isOne && origins.allow(fields.value(at)) ? fields.value(at) : null;
        AsciiString method = at < 0 ? null : fields.first(REQUEST_METHOD);
        if (method != null && head.method().equals(Method.OPTIONS)) {
            return preflight(origin, method, fields.first(REQUEST_HEADERS));
        }
        if (origin != null && !isSameForAll) {
            context.keep(origin);
        }
        return Verdict.PROCEED;
    }

    private Verdict preflight(@Nullable AsciiString origin, AsciiString method, @Nullable AsciiString requested) {
        Fields fields = new Fields();
        fields.add(FieldName.VARY, PREFLIGHT_VARY);
        if (origin != null) {
            allow(fields, origin);
            addIfAny(fields, ALLOW_METHODS, methods, method);
            addIfAny(fields, ALLOW_HEADERS, headers, requested);
            fields.add(MAX_AGE, maxAge);
        }
        return new Verdict.Reply(new ResponseHead(204, null, fields, 0), Unpooled.EMPTY_BUFFER);
    }

    /**
     * The requested names stand for {@code *} (Fetch, section 3.2.5). With credentials, browsers take {@code *} as a name;
     * without, it does not include {@code Authorization}.
     */
    private static void addIfAny(Fields fields, FieldName name, AsciiString allowed, @Nullable AsciiString requested) {
        AsciiString value = allowed.equals(ALL) ? requested : allowed;
        if (value != null && !value.isEmpty()) {
            fields.add(name, value);
        }
    }

    private void allow(Fields fields, AsciiString origin) {
        fields.add(ALLOW_ORIGIN, isSameForAll ? ALL : origin);
        if (credentials) {
            fields.add(ALLOW_CREDENTIALS, TRUE);
        }
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        write(head.fields(), context);
    }

    /** Pages may read why they were refused, too. */
    @Override
    public void onFailure(Fields answer, FilterContext context) {
        write(answer, context);
    }

    private void write(Fields fields, FilterContext context) {
        for (FieldName name : OWN) { // of an upstream, or of an auth server
            fields.remove(name);
        }
        if (!isSameForAll
                && !fields.hasElement(FieldName.VARY, ORIGIN_LOWER)
                && !fields.hasElement(FieldName.VARY, ALL)) {
            fields.add(FieldName.VARY, ORIGIN); // without an Origin in the request, too: a cache keeps either answer
        }
        AsciiString origin = isSameForAll ? ALL : (AsciiString) context.kept();
        if (origin != null) {
            allow(fields, origin);
            if (!exposed.isEmpty()) {
                fields.add(EXPOSE_HEADERS, exposed);
            }
        }
    }
}
