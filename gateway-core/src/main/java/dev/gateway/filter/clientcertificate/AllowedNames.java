package dev.gateway.filter.clientcertificate;

import dev.gateway.filter.certificate.CertificateName;
import dev.gateway.filter.certificate.CertificateName.Kind;
import dev.gateway.filter.certificate.PresentedNames;
import dev.gateway.filter.certificate.PresentedNames.Presented;
import dev.gateway.format.crypto.UriPattern;
import dev.gateway.stream.Identity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names in certificates that may use a route, in an order. Immutable. */
final class AllowedNames {
    private final Map<CertificateName, Integer> exact = new HashMap<>();
    private final List<Below> below = new ArrayList<>();

    /** All URIs below one. */
    private record Below(UriPattern pattern, int place) {}

    /**
     * Makes it.
     *
     * @param names at least one; URIs are patterns
     * @throws IllegalArgumentException if a URI is no pattern
     */
    AllowedNames(List<CertificateName> names) {
        for (int i = 0; i < names.size(); i++) {
            CertificateName name = names.get(i);
            if (name.kind() == Kind.URI) {
                UriPattern pattern = UriPattern.parse(name.value());
                if (pattern == null) {
                    throw new IllegalArgumentException("not a URI: " + name.value());
                } else if (pattern.below()) {
                    below.add(new Below(pattern, i));
                    continue;
                }
            }
            exact.putIfAbsent(name, i);
        }
    }

    /** Returns who the client is by the first of the names that the certificate has, null if it has none of them. */
    @Nullable
    Identity find(PresentedNames presented) {
        int best = Integer.MAX_VALUE;
        Identity identity = null;
        List<Presented> all = presented.all();
        for (int i = 0; i < all.size(); i++) {
            int place = place(all.get(i).name());
            if (place < best) {
                best = place;
                identity = all.get(i).identity();
            }
        }
        return identity;
    }

    private int place(CertificateName name) {
        Integer found = exact.get(name);
        int place = found == null ? Integer.MAX_VALUE : found;
        if (name.kind() == Kind.URI) {
            for (int i = 0; i < below.size() && below.get(i).place < place; i++) {
                if (below.get(i).pattern.matches(name.value())) {
                    return below.get(i).place;
                }
            }
        }
        return place;
    }
}
