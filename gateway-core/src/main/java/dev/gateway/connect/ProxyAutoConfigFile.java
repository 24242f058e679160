package dev.gateway.connect;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.SharedBytes;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * PAC file endpoint. Answers with the script of an entry, which names the proxy as the client does that asks for it: so it
 * is right behind whatever leads here. Shared by all event loops.
 */
public final class ProxyAutoConfigFile implements Filter {
    private static final AsciiString TYPE = new AsciiString("application/x-ns-proxy-autoconfig");
    private static final AsciiString CACHE = new AsciiString("max-age=300");
    private static final FieldName CONTENT_TYPE_OPTIONS = FieldName.of("X-Content-Type-Options");
    private static final AsciiString NO_SNIFF = new AsciiString("nosniff");
    private static final FieldName RESOURCE_POLICY = FieldName.of("Cross-Origin-Resource-Policy");
    private static final AsciiString SAME_ORIGIN = new AsciiString("same-origin");
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    private final ProxyAutoConfig config;
    private volatile @Nullable Made last;

    /** What is the same for all who reach this gateway in the same way: nearly all. */
    private record Made(ProxyAutoConfig.Proxy proxy, AsciiString script) {}

    /** Makes the filter of an entry. */
    public ProxyAutoConfigFile(ProxyAutoConfig config) {
        this.config = config;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        boolean tls = context.connection().tls() != null;
        AsciiString authority = head.authority();
        String host = authority.subSequence(0, Authority.hostLength(authority)).toString();
        AsciiString script = script(new ProxyAutoConfig.Proxy(
                tls,
                host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
                Authority.port(authority, tls ? HTTPS_PORT : HTTP_PORT)));
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, TYPE);
        fields.add(FieldName.CACHE_CONTROL, CACHE);
        // Pages of other sites may not run it as a script of theirs, for it names hosts of this network.
        fields.add(CONTENT_TYPE_OPTIONS, NO_SNIFF);
        fields.add(RESOURCE_POLICY, SAME_ORIGIN);
        return new Verdict.Reply(new ResponseHead(200, null, fields, script.length()), SharedBytes.of(script.array()));
    }

    private AsciiString script(ProxyAutoConfig.Proxy proxy) {
        Made made = last;
        if (made == null || !made.proxy.equals(proxy)) {
            made = new Made(proxy, new AsciiString(config.script(proxy)));
            last = made;
        }
        return made.script;
    }
}
