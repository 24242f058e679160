package dev.gateway.filter.clientcertificate;

import static java.util.Map.entry;

import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.yaml.schema.filter.RequestParts;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.filter.certificate.CertificateName;
import dev.gateway.filter.certificate.CertificateName.Kind;
import dev.gateway.filter.clientcertificate.ClientCertificateConfig.Part;
import dev.gateway.format.crypto.SpiffeId;
import dev.gateway.format.crypto.UriPattern;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Filter by the names of client certificates, key by key. */
final class ClientCertificateSchema {
    private static final long DEFAULT_SIZE = 16 << 10;
    private static final long LEAST_SIZE = 1 << 10;
    private static final long MOST_SIZE = 64 << 10;
    private static final String LABEL = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?";
    private static final String EMAIL_PATTERN = "[!-)+-?A-~]+@" + LABEL + "(\\." + LABEL + ")*";

    private static final ScalarType<String> URI = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^[A-Za-z][A-Za-z0-9+.-]*:[!-)+-~]*([!-.0-~]|/\\*?)$"),
                    "urn:placeholder",
                    (text, site) -> uri(text),
                    value -> value)
            .named(
                    "certificate URI",
                    "A URI such as a SPIFFE ID. At its end, '/*' stands for all URIs below it, but not for the URI itself.");

    private static final ScalarType<String> EMAIL = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^" + EMAIL_PATTERN + "$"),
                    "placeholder@example.com",
                    (text, site) -> email(text),
                    value -> value)
            .named("email address", "An email address such as alice@example.com.");

    private static final ScalarType<String> COMMON_NAME = Types.word(
            "[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*", "text without control characters");

    private static final ObjectType<CertificateName> NAME = ObjectType.of(
            "certificate name", "A name that certificates may have. Each element of allow has one.", o -> {
                var uri = o.optional(
                        "uri",
                        URI,
                        name -> valueOf(name, Kind.URI),
                        "Alternative name of type URI, such as the SPIFFE ID spiffe://example.org/ns/shop/sa/cart. With '/*'"
                                + " at its end, all URIs below it.");
                var dns = o.optional(
                        "dns",
                        Types.EXACT_HOSTNAME,
                        name -> valueOf(name, Kind.DNS),
                        "Alternative name of type DNS, without wildcard.");
                var email = o.optional(
                        "email",
                        EMAIL,
                        name -> valueOf(name, Kind.EMAIL),
                        "Alternative name of type email. Letter case matters before the @ only.");
                var common = o.optional(
                        "commonName",
                        COMMON_NAME,
                        name -> valueOf(name, Kind.COMMON_NAME),
                        "Common name (CN) of the subject, for certificates without alternative names.");
                RequestParts.requireOne(o, List.of("uri", "dns", "email", "commonName"), "a certificate name", "uri");
                List<Map.Entry<Kind, Key<CertificateName, String>>> keys = List.of(
                        entry(Kind.URI, uri),
                        entry(Kind.DNS, dns),
                        entry(Kind.EMAIL, email),
                        entry(Kind.COMMON_NAME, common));
                return v -> {
                    for (Map.Entry<Kind, Key<CertificateName, String>> each : keys) {
                        String value = v.find(each.getValue());
                        if (value != null) {
                            return new CertificateName(each.getKey(), value);
                        }
                    }
                    return new CertificateName(Kind.URI, ""); // reported, and used for nothing
                };
            });

    /** Settings. */
    static final ObjectType<ClientCertificateConfig> SETTINGS = ObjectType.of(
            "clientCertificate section",
            "Lets only clients use the route whose certificate the listener has verified (clientAuth). The gateway answers"
                    + " others with 403.",
            o -> {
                var required = o.defaulted(
                        "required",
                        Types.BOOLEAN,
                        true,
                        ClientCertificateConfig::required,
                        "Whether a client needs a certificate. false: a request without one continues, without an identity.");
                var allow = o.optional(
                        "allow",
                        new ListType<>(NAME, 1),
                        config -> config.allow().isEmpty() ? null : config.allow(),
                        "Names, one of which a certificate must have. Without this key, every verified certificate is"
                                + " right.");
                var forward = o.defaulted(
                        "forward",
                        new ListType<>(
                                Types.words(entry("certificate", Part.CERTIFICATE), entry("chain", Part.CHAIN)), 0),
                        List.of(),
                        ClientCertificateConfig::forward,
                        "What the upstream gets (RFC 9440). certificate: the client's certificate in Client-Cert. chain: the"
                                + " other certificates that the client has sent, in Client-Cert-Chain.");
                var size = o.defaulted(
                        "maxForwardedSize",
                        Types.SIZE,
                        DEFAULT_SIZE,
                        ClientCertificateConfig::maxForwardedSize,
                        "Maximum size of Client-Cert and Client-Cert-Chain together, 1KiB to 64KiB. The gateway refuses"
                                + " requests of clients whose certificates need more.");
                return v -> {
                    if (v.get(forward).contains(Part.CHAIN) && !v.get(forward).contains(Part.CERTIFICATE)) {
                        v.error(
                                v.at("forward"),
                                "forward: a chain without its certificate says nothing (RFC 9440): write [certificate, chain]");
                    }
                    boolean inRange = v.get(size) >= LEAST_SIZE && v.get(size) <= MOST_SIZE;
                    if (!inRange && v.isReadable("maxForwardedSize", Types.SIZE)) {
                        v.error(v.at("maxForwardedSize"), "maxForwardedSize: expected 1KiB to 64KiB");
                    }
                    List<CertificateName> names = v.find(allow);
                    return new ClientCertificateConfig(
                            v.position(),
                            v.get(required),
                            names == null ? List.of() : names,
                            v.get(forward),
                            v.get(size));
                };
            });

    private ClientCertificateSchema() {}

    private static @Nullable String valueOf(CertificateName name, Kind kind) {
        return name.kind() == kind ? name.value() : null;
    }

    private static String uri(String text) throws InvalidException {
        if (UriPattern.parse(text) != null) {
            return text;
        }
        String hint = "";
        int domain = text.indexOf("://") + 3;
        int path = domain < 3 ? -1 : text.indexOf('/', domain);
        String authority = domain < 3 ? "" : text.substring(domain, path < 0 ? text.length() : path);
        if (authority.contains("*")) {
            hint = ": name the trust domain";
        } else if (text.contains("*")) {
            hint = ": '*' stands at the end, after a slash";
        } else if (SpiffeId.hasScheme(text)) {
            String lower = text.toLowerCase(Locale.ROOT);
            String better = path < 0 ? lower : lower.substring(0, path) + text.substring(path);
            hint = SpiffeId.isValid(better)
                    ? ": did you mean '" + MessageText.shorten(better) + "'?"
                    : ": a SPIFFE ID is spiffe://trust-domain/path, of letters, digits, '.', '-' and '_'";
        }
        throw new InvalidException(
                "expected a URI such as spiffe://example.org/ns/shop/sa/cart, not " + MessageText.quote(text) + hint);
    }

    /** Returns the address with its host in lower case (RFC 5280, section 7.5). */
    private static String email(String text) throws InvalidException {
        if (!text.matches(EMAIL_PATTERN)) {
            throw new InvalidException(
                    "expected an email address such as alice@example.com, not " + MessageText.quote(text));
        }
        int at = text.indexOf('@');
        return text.substring(0, at) + text.substring(at).toLowerCase(Locale.ROOT);
    }

    /** Listeners ask for client certificates only if they are told to. */
    static void check(ClientCertificateConfig filter, RuleSite site) {
        List<ListenerConfig> listeners = site.listeners();
        List<ListenerConfig> without =
                listeners.stream().filter(listener -> !asks(listener)).toList();
        boolean none = without.size() == listeners.size();
        if (without.isEmpty() || (!none && !filter.required())) {
            return;
        }
        ListenerConfig first = without.get(0);
        String message = "listener '" + first.name() + "' ("
                + first.position().seenFrom(filter.position()) + ") "
                + (first.protocols().tls() == null
                        ? "has no TLS, and so no client certificates: "
                        : "does not ask for client certificates: ")
                + (filter.required() ? "this filter refuses all its requests" : "this filter does nothing there")
                + "; "
                + (first.protocols().tls() == null
                        ? "write protocol HTTPS with tls: {clientAuth: optional, caFile: …}, or name another listener in"
                                + " parentRefs"
                        : "add clientAuth: optional and caFile to its tls");
        if (none && filter.required()) {
            site.error(filter.position(), message);
        } else {
            site.warning(filter.position(), message);
        }
    }

    private static boolean asks(ListenerConfig listener) {
        TlsConfig tls = listener.protocols().tls();
        return tls == null
                ? listener.protocols().protocol() == ListenerConfig.Protocol.HTTPS // whose tls was reported
                : tls.clients().auth() != TlsConfig.ClientAuth.NONE;
    }
}
