package dev.gateway.filter.certificate;

import dev.gateway.filter.certificate.CertificateName.Kind;
import dev.gateway.format.crypto.SpiffeId;
import dev.gateway.stream.Identity;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Names in a client certificate that count: those that are well-formed, and may be logged. A client may have any certificate
 * that its authority signs, so nothing in it is taken for granted. Immutable.
 */
public final class PresentedNames {
    /** More names than clients have. With more, none counts. */
    static final int MOST_NAMES = 100;

    /** As long as a SPIFFE ID may be. */
    private static final int MOST_CHARS = 2048;

    private static final int MOST_OF_DNS = 253;

    /** Numbers of the kinds of alternative names (RFC 5280, section 4.2.1.6). */
    private static final int EMAIL = 1;

    private static final int DNS = 2;
    private static final int URI = 6;

    /** Bits of the extension keyUsage: the key of a certificate authority may sign certificates or revocation lists. */
    private static final int CERTIFICATE_SIGN = 5;

    private static final int LIST_SIGN = 6;

    private final List<Presented> all;
    private final @Nullable Identity identity;
    private final @Nullable String fault;

    /** A name, and who the client is by it. */
    public record Presented(CertificateName name, Identity identity) {}

    private PresentedNames(List<Presented> all, @Nullable String fault) {
        this.all = List.copyOf(all);
        this.fault = fault;
        Presented first = null;
        for (Presented each : all) {
            if (first == null || each.name.kind().compareTo(first.name.kind()) < 0) {
                first = each;
            }
        }
        this.identity = first == null ? null : first.identity;
    }

    /** Reads the names. */
    static PresentedNames of(X509Certificate certificate) {
        Collection<List<?>> alternatives;
        try {
            alternatives = certificate.getSubjectAlternativeNames();
        } catch (CertificateParsingException | RuntimeException e) { // the JDK throws the latter for some addresses
            return new PresentedNames(List.of(), "it has malformed names");
        }
        List<Presented> names = new ArrayList<>();
        String fault = null;
        if (alternatives != null) {
            if (alternatives.size() > MOST_NAMES) {
                return new PresentedNames(List.of(), "it has more than " + MOST_NAMES + " names");
            }
            List<String> uris = texts(alternatives, URI);
            for (String uri : uris) {
                String wrong = SpiffeId.hasScheme(uri) ? spiffeFault(uri, uris.size(), certificate) : null;
                if (wrong != null) {
                    fault = wrong;
                } else if (isPrintable(uri)) {
                    add(names, Kind.URI, uri);
                }
            }
            for (String name : texts(alternatives, DNS)) {
                if (isHostName(name)) {
                    add(names, Kind.DNS, name.toLowerCase(Locale.ROOT));
                }
            }
            for (String address : texts(alternatives, EMAIL)) {
                int at = address.indexOf('@');
                if (at > 0 && isPrintable(address) && isHostName(address.substring(at + 1))) {
                    add(
                            names,
                            Kind.EMAIL,
                            address.substring(0, at) + address.substring(at).toLowerCase(Locale.ROOT));
                }
            }
        }
        String common = CommonName.of(certificate.getSubjectX500Principal().getName());
        if (common != null && common.length() <= MOST_CHARS) {
            add(names, Kind.COMMON_NAME, common);
        }
        return new PresentedNames(names, fault);
    }

    /** Returns why a SPIFFE ID does not count (X509-SVID, sections 2 and 4), null if it does. */
    private static @Nullable String spiffeFault(String uri, int uris, X509Certificate certificate) {
        boolean[] usage = certificate.getKeyUsage();
        if (uris > 1) {
            return "it has a SPIFFE ID and another URI";
        } else if (!SpiffeId.isValid(uri)) {
            return "its SPIFFE ID is malformed";
        } else if (certificate.getBasicConstraints() >= 0
                || (usage != null && (usage[CERTIFICATE_SIGN] || usage[LIST_SIGN]))) {
            return "its SPIFFE ID is that of a certificate authority";
        }
        return null;
    }

    private static List<String> texts(Collection<List<?>> names, int kind) {
        List<String> texts = new ArrayList<>();
        for (List<?> each : names) {
            if (Integer.valueOf(kind).equals(each.get(0)) && each.get(1) instanceof String text) {
                texts.add(text);
            }
        }
        return texts;
    }

    private static void add(List<Presented> names, Kind kind, String value) {
        names.add(new Presented(new CertificateName(kind, value), new Identity(value, Set.of())));
    }

    private static boolean isPrintable(String text) {
        return !text.isEmpty() && text.length() <= MOST_CHARS && text.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }

    /** Whether it is the name of one host; a wildcard is not. */
    private static boolean isHostName(String text) {
        return !text.isEmpty()
                && text.length() <= MOST_OF_DNS
                && text.chars()
                        .allMatch(c -> (c >= 'a' && c <= 'z')
                                || (c >= 'A' && c <= 'Z')
                                || (c >= '0' && c <= '9')
                                || c == '.'
                                || c == '-'
                                || c == '_');
    }

    /** Returns the names, those of each kind in the order of the certificate. */
    public List<Presented> all() {
        return all;
    }

    /** Returns who the client is: the first name of the most exact kind; null if there is no name. */
    public @Nullable Identity identity() {
        return identity;
    }

    /** Returns why a name, or all names, do not count; null if there is nothing to say. */
    public @Nullable String fault() {
        return fault;
    }
}
