package dev.gateway.tunnel;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import io.netty.util.AsciiString;
import java.security.SecureRandom;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Signs requests to other hosts by {@code Via}, with a name that no other proxy has, and refuses what comes back so
 * signed: it would come back for ever (RFC 9110, section 7.6.3). Immutable; one for each connect entry, since a request
 * that leaves by one and comes back by another, as when a filtering proxy stands between them, may well end there.
 */
public final class LoopGuard implements Filter {
    private static final int RANDOM_BYTES = 6;

    private final AsciiString name;
    private final Map<HttpVersion, AsciiString> elements = new EnumMap<>(HttpVersion.class);

    private LoopGuard(String name) {
        this.name = new AsciiString(name);
        for (HttpVersion version : HttpVersion.values()) {
            elements.put(version, new AsciiString(version.number() + " " + name));
        }
    }

    /** Makes a guard, whose name nobody else has. */
    public static LoopGuard random() {
        byte[] bytes = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(bytes);
        return new LoopGuard("gateway-" + HexFormat.of().formatHex(bytes));
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        StringJoiner via = new StringJoiner(", "); // one line, because some proxies hand on no more than that
        for (int i = fields.find(FieldName.VIA, 0); i >= 0; i = fields.find(FieldName.VIA, i + 1)) {
            if (fields.value(i).contains(name)) { // wherever it stands: nobody else has it
                return new Verdict.Refuse(Failure.of(Cause.LOOP_DETECTED, "it has passed here before, as " + name));
            }
            via.add(fields.value(i));
        }
        AsciiString element = elements.get(context.connection().version());
        if (element != null) {
            fields.set(FieldName.VIA, via.add(element).toString());
        }
        return Verdict.PROCEED;
    }
}
