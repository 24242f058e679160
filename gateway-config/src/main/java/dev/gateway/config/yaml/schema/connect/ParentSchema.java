package dev.gateway.config.yaml.schema.connect;

import dev.gateway.config.ConnectConfig.Parent;
import dev.gateway.config.ConnectConfig.Proxy;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.yaml.schema.upstream.UpstreamTlsSchema;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a parent proxy is, key by key. */
final class ParentSchema {
    private static final String DIRECT = "DIRECT";
    private static final Pattern URL = Pattern.compile(
            "([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#]*)@)?(\\[[^\\]/]*\\]|[^/?#:\\[\\]]*)(?::([0-9]*))?(/?)");
    private static final Map<String, Proxy.Kind> KINDS =
            Map.of("http", Proxy.Kind.HTTP, "https", Proxy.Kind.HTTPS, "socks5", Proxy.Kind.SOCKS5);

    /** Empty is the host itself. */
    private static final ScalarType<Optional<Proxy>> PROXY = new ScalarType<Optional<Proxy>>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(DIRECT|(https?|socks5)://[^/?#@]+:[0-9]+/?)$"),
                    Optional.empty(),
                    (text, site) -> text.equals(DIRECT) ? Optional.empty() : Optional.of(proxy(text, site)),
                    proxy -> proxy.map(ParentSchema::print).orElse(DIRECT))
            .named(
                    "proxy URL",
                    "http://host:port, https://host:port or socks5://host:port without a path, or DIRECT for no proxy.");

    /** What is dialed for some hosts. */
    static final ObjectType<Parent> PARENT =
            ObjectType.of("parent", "A parent proxy, or a direct connection, for some hosts.", o -> {
                var hosts = o.required(
                        "hosts",
                        new ListType<>(DestinationTypes.DESTINATION, 1),
                        Parent::hosts,
                        "Destinations that the parent proxy is for.");
                var proxy = o.required(
                        "proxy",
                        PROXY,
                        parent -> Optional.ofNullable(parent.proxy()),
                        "URL of the parent proxy, or DIRECT.");
                var credentials = o.optional(
                        "credentialsFile",
                        Types.PATH,
                        parent -> parent.proxy() == null ? null : parent.proxy().credentialsFile(),
                        "File of one line: a user name, ':' and a password.");
                var tls = o.optional(
                        "tls",
                        UpstreamTlsSchema.TLS,
                        parent -> parent.proxy() == null ? null : parent.proxy().tls(),
                        "How the gateway verifies an https:// proxy.");
                o.single(text -> text.matches("(https?|socks5)://[^@\\s]+")
                        ? "{hosts: [\"*\"], proxy: \"" + text + "\"}"
                        : null);
                return v -> {
                    Path file = v.find(credentials);
                    if (file != null && v.resolved("proxy").equals(DIRECT)) {
                        v.error(v.atKey("credentialsFile"), "credentialsFile has no meaning with DIRECT: remove it");
                    }
                    Proxy to = v.get(proxy).orElse(null);
                    if (v.find(tls) != null && (to == null || to.kind() != Proxy.Kind.HTTPS)) {
                        v.error(
                                v.atKey("tls"),
                                "tls has no meaning with " + v.resolved("proxy") + ": remove it, or write https://");
                    }
                    UpstreamConfig.Tls verified = v.find(tls);
                    if (verified != null && verified.followsHost()) {
                        v.error(
                                v.at(verified, "serverName"),
                                "the server name of a proxy cannot be {host}: write its name");
                    }
                    return new Parent(
                            v.position(),
                            v.get(hosts),
                            to == null ? null : new Proxy(to.kind(), to.host(), to.port(), file, v.find(tls)));
                };
            });

    private ParentSchema() {}

    /** Says nothing that may hold a password. */
    private static Proxy proxy(String text, ScalarType.Site site) throws InvalidException {
        Matcher url = URL.matcher(text);
        if (text.indexOf('@') >= 0) {
            throw new InvalidException(
                    "a URL here has no user and password: write them as one line 'user:password' into"
                            + " a file, and name it in 'credentialsFile'");
        }
        if (!url.matches()) {
            throw new InvalidException("expected the URL of a proxy such as http://proxy.example:3128, or DIRECT, not "
                    + MessageText.quote(text) + hint(text));
        }
        String scheme = url.group(1).toLowerCase(Locale.ROOT);
        Proxy.Kind kind = KINDS.get(scheme);
        if (kind == null) {
            throw new InvalidException("unknown scheme '" + scheme + "': "
                    + (scheme.startsWith("socks5")
                            ? "write socks5, which always leaves names to the proxy"
                            : "expected http, https or socks5"));
        }
        if (url.group(4) == null || url.group(4).isEmpty()) {
            throw new InvalidException("write the port too: did you mean '" + scheme + "://" + url.group(3)
                    + (kind == Proxy.Kind.SOCKS5 ? ":1080" : ":3128") + "'?");
        }
        String host = url.group(3);
        return new Proxy(
                kind,
                Types.HOST.parse(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, site),
                port(url.group(4)),
                null,
                null);
    }

    private static int port(String digits) throws InvalidException {
        int port = digits.length() > 5 ? 0 : Integer.parseInt(digits);
        if (port < 1 || port > 65535) {
            throw new InvalidException("expected a port from 1 to 65535, not '" + MessageText.shorten(digits) + "'");
        }
        return port;
    }

    private static String hint(String text) {
        if (text.equalsIgnoreCase(DIRECT) || text.equalsIgnoreCase("none")) {
            return ": did you mean '" + DIRECT + "'?";
        }
        return text.contains("://")
                ? ": leave the path out"
                : ": did you mean 'http://" + MessageText.shorten(text) + "'?";
    }

    private static String print(Proxy proxy) {
        String host = proxy.host().indexOf(':') < 0 ? proxy.host() : "[" + proxy.host() + "]";
        return proxy.kind().name().toLowerCase(Locale.ROOT) + "://" + host + ":" + proxy.port();
    }
}
