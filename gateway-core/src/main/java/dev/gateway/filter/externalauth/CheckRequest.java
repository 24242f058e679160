package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.certificate.PresentedCertificate;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.grpc.ProtoWriter;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Identity;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What {@code envoy.service.auth.v3.Authorization/Check} is asked: the attributes of a request as routes see it. Numbers of
 * fields are those of Envoy's {@code attribute_context.proto}. Immutable.
 */
final class CheckRequest {
    private static final AsciiString METHOD = new AsciiString(":method");
    private static final AsciiString SCHEME = new AsciiString(":scheme");
    private static final AsciiString AUTHORITY = new AsciiString(":authority");
    private static final AsciiString PATH = new AsciiString(":path");
    private static final AsciiString COMMA = new AsciiString(",");
    private static final AsciiString SEMICOLON = new AsciiString("; ");
    private static final long NOT_KNOWN = -1;

    private final List<FieldName> sent;
    private final Set<AsciiString> own;
    private final Map<String, String> extensions;
    private final LongSupplier clock;

    /**
     * Makes it.
     *
     * @param sent names of fields that go along, empty for all
     * @param own names, in lower case, of fields that the gateway itself writes
     * @param extensions what the configuration adds
     * @param clock milliseconds since 1970
     */
    CheckRequest(List<FieldName> sent, Set<AsciiString> own, Map<String, String> extensions, LongSupplier clock) {
        this.sent = sent.isEmpty()
                ? List.of()
                : Stream.concat(sent.stream(), QuestionFields.ALWAYS.stream())
                        .distinct()
                        .toList();
        this.own = own;
        this.extensions = extensions;
        this.clock = clock;
    }

    /** Returns the framed message about a request. */
    ByteBuf about(RequestHead head, FilterContext context) {
        ConnectionInfo connection = context.connection();
        ConnectionInfo.TlsInfo tls = connection.tls();
        ProtoWriter source = new ProtoWriter();
        InetAddress client = context.client().ip();
        if (client != null) {
            source.message(
                    1,
                    address(context.client().text().toString(), context.client().port()));
        }
        String principal = tls == null ? null : principal(tls);
        if (principal != null) {
            source.text(4, principal);
        }
        ProtoWriter destination = new ProtoWriter();
        if (connection.local() != null) {
            destination.message(
                    1,
                    address(
                            NetUtil.toAddressString(connection.local().getAddress()),
                            connection.local().getPort()));
        }
        ProtoWriter attributes = new ProtoWriter()
                .message(1, source)
                .message(2, destination)
                .message(4, new ProtoWriter().message(1, time()).message(2, http(head, context)));
        extensions.forEach((name, value) ->
                attributes.message(10, new ProtoWriter().text(1, name).text(2, value)));
        if (tls != null && tls.serverName() != null) {
            attributes.message(12, new ProtoWriter().text(1, tls.serverName()));
        }
        return new ProtoWriter().message(1, attributes).framed();
    }

    private static ProtoWriter address(String ip, int port) {
        return new ProtoWriter()
                .message(1, new ProtoWriter().text(2, ip).number(3, port)); // Address.socket_address, of TCP
    }

    /** Who the client is by its verified certificate: its first name as other filters have it, else its subject. */
    private static @Nullable String principal(ConnectionInfo.TlsInfo tls) {
        ClientChain chain = tls.clientChain();
        Identity named = chain == null
                ? null
                : chain.reading(PresentedCertificate.class, PresentedCertificate::new)
                        .names()
                        .identity();
        return named == null ? tls.clientSubject() : named.name();
    }

    private ProtoWriter time() {
        long millis = clock.getAsLong();
        return new ProtoWriter().number(1, millis / 1000).number(2, millis % 1000 * 1_000_000);
    }

    private ProtoWriter http(RequestHead head, FilterContext context) {
        ProtoWriter http = new ProtoWriter();
        AsciiString id = QuestionFields.requestId(context);
        if (id != null) {
            http.text(1, id);
        }
        http.text(2, head.routedMethod().name());
        fields(head, context)
                .forEach((name, value) ->
                        http.message(3, new ProtoWriter().text(1, name).text(2, value)));
        return http.text(4, head.path())
                .text(5, head.authority())
                .text(6, context.target().scheme())
                .number(9, head.contentLength() == RequestHead.UNKNOWN_LENGTH ? NOT_KNOWN : head.contentLength())
                .text(10, context.connection().version().shortText());
    }

    /** Returns the fields that go along, by name in lower case. As Envoy does, values of one name become one. */
    private Map<AsciiString, AsciiString> fields(RequestHead head, FilterContext context) {
        Map<AsciiString, AsciiString> found = new LinkedHashMap<>();
        found.put(METHOD, head.routedMethod().name());
        found.put(SCHEME, context.target().scheme());
        found.put(AUTHORITY, head.authority());
        found.put(PATH, head.path());
        Fields from = head.fields();
        if (sent.isEmpty()) {
            for (int i = 0; i < from.size(); i++) {
                if (!own.contains(from.lowerName(i))) {
                    add(found, from.lowerName(i), from.value(i));
                }
            }
        } else {
            for (FieldName name : sent) {
                for (int i = from.find(name, 0); i >= 0; i = from.find(name, i + 1)) {
                    add(found, name.lower(), from.value(i));
                }
            }
        }
        Fields described = new Fields();
        QuestionFields.describe(head, context, described);
        for (int i = 0; i < described.size(); i++) {
            found.put(described.lowerName(i), described.value(i));
        }
        return found;
    }

    private static void add(Map<AsciiString, AsciiString> to, AsciiString name, AsciiString value) {
        AsciiString separator = name.equals(FieldName.COOKIE.lower()) ? SEMICOLON : COMMA;
        to.merge(name, value, (first, next) -> first.concat(separator).concat(next));
    }
}
