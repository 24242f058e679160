package dev.gateway.net.tls;

import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Search for a path from a peer's certificate to an authority, through others that the peer has sent in any order. Its work is
 * bounded. Only keys of authorities verify signatures, and keys that lead to one: a stranger's own keys may make that expensive.
 * Used once.
 */
final class PathSearch {
    /** An honest path needs one for each certificate, and one more for each other certificate with an issuer's name. */
    private static final int MAX_VERIFIED = 32;

    private static final int SIGNS_CERTIFICATES = 5; // bit of the key usage, RFC 5280, section 4.2.1.3

    private final Predicate<X509Certificate> isOfAuthority;
    private final BiPredicate<X509Certificate, PublicKey> isSigned;
    private final X509Certificate[] sent;
    private final List<Link> links = new ArrayList<>(); // the peer's own first
    private int verified; // with keys of certificates that were sent

    /** A certificate that names lead to. */
    private static final class Link {
        final X509Certificate certificate;
        boolean leads; // to an authority, which has signed it if it has no issuer here

        @Nullable
        Link issuer;

        Link(X509Certificate certificate) {
            this.certificate = certificate;
        }
    }

    /**
     * Makes a search.
     *
     * @param isOfAuthority whether an authority has signed a certificate
     * @param isSigned whether a key has
     * @param sent the peer's own first
     */
    PathSearch(
            Predicate<X509Certificate> isOfAuthority,
            BiPredicate<X509Certificate, PublicKey> isSigned,
            X509Certificate[] sent) {
        this.isOfAuthority = isOfAuthority;
        this.isSigned = isSigned;
        this.sent = sent;
    }

    /**
     * Returns the certificates from the peer's own to one that an authority has signed; null if there is no such path. To be
     * called only if no authority has signed the peer's own certificate.
     */
    X509Certificate @Nullable [] path() {
        ascend();
        if (!descend(true) && !descend(false)) {
            return null;
        }
        List<X509Certificate> path = new ArrayList<>();
        for (Link each = links.get(0); each != null; each = each.issuer) {
            path.add(each.certificate);
        }
        return path.toArray(X509Certificate[]::new);
    }

    /** Follows the names of issuers from the peer's own certificate to those that authorities have signed. */
    private void ascend() {
        boolean[] reached = new boolean[sent.length];
        reached[0] = true;
        links.add(new Link(sent[0]));
        for (int i = 0; i < links.size(); i++) {
            Link link = links.get(i);
            link.leads = i > 0 && isOfAuthority.test(link.certificate);
            X500Principal issuer = link.certificate.getIssuerX500Principal();
            for (int j = 1; j < sent.length && !link.leads; j++) {
                if (!reached[j] && sent[j].getSubjectX500Principal().equals(issuer) && mayIssue(sent[j])) {
                    reached[j] = true;
                    links.add(new Link(sent[j]));
                }
            }
        }
    }

    private static boolean mayIssue(X509Certificate certificate) {
        boolean[] usage = certificate.getKeyUsage();
        return certificate.getBasicConstraints() >= 0 && (usage == null || usage[SIGNS_CERTIFICATES]);
    }

    /** Follows signatures from those that lead to an authority. Returns whether the peer's own certificate now does, too. */
    private boolean descend(boolean onlyValid) {
        long now = System.currentTimeMillis();
        Deque<Link> issuers = new ArrayDeque<>();
        for (Link each : links) {
            if (each.leads && (!onlyValid || isValid(each.certificate, now))) {
                issuers.add(each);
            }
        }
        for (Link issuer = issuers.poll(); issuer != null; issuer = issuers.poll()) {
            for (Link each : links) {
                if (!each.leads && hasSigned(issuer.certificate, each.certificate)) {
                    each.leads = true;
                    each.issuer = issuer;
                    if (each == links.get(0)) {
                        return true;
                    }
                    if (!onlyValid || isValid(each.certificate, now)) {
                        issuers.add(each);
                    }
                }
            }
        }
        return false;
    }

    private boolean hasSigned(X509Certificate issuer, X509Certificate certificate) {
        if (verified >= MAX_VERIFIED
                || !issuer.getSubjectX500Principal().equals(certificate.getIssuerX500Principal())) {
            return false;
        }
        verified++;
        return isSigned.test(certificate, issuer.getPublicKey());
    }

    private static boolean isValid(X509Certificate certificate, long now) {
        return certificate.getNotBefore().toInstant().toEpochMilli() <= now
                && certificate.getNotAfter().toInstant().toEpochMilli() >= now;
    }
}
