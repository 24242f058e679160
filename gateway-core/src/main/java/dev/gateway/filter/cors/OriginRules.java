package dev.gateway.filter.cors;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Origins of pages, one by one or all names below a domain. Immutable. */
final class OriginRules {
    private static final String WILDCARD = "://*.";

    private final boolean all;
    private final Set<AsciiString> exact = new HashSet<>();
    private final List<Below> below = new ArrayList<>();

    /** All names below a domain: what comes before them, and what comes after. */
    private record Below(AsciiString scheme, AsciiString domain) {
        boolean has(AsciiString origin) {
            int name = origin.length() - scheme.length() - domain.length();
            return name > 0
                    && origin.startsWith(scheme)
                    && origin.regionMatches(false, origin.length() - domain.length(), domain, 0, domain.length())
                    && isName(origin, scheme.length(), scheme.length() + name);
        }

        /** Whether it is labels of a host name with dots between them. Another origin may have this domain in its path. */
        private static boolean isName(AsciiString origin, int start, int end) {
            byte last = '.';
            for (int i = start; i < end; i++) {
                byte b = origin.byteAt(i);
                boolean letter = (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '-' || b == '_';
                if (!letter && (b != '.' || last == '.')) {
                    return false;
                }
                last = b;
            }
            return last != '.';
        }
    }

    /** Makes rules of origins in lower case, such as {@code https://example.com} and {@code https://*.example.com}. */
    OriginRules(List<String> origins) {
        this.all = origins.contains("*");
        for (String origin : origins) {
            int wildcard = origin.indexOf(WILDCARD);
            if (wildcard < 0) {
                exact.add(new AsciiString(origin));
            } else {
                below.add(new Below(
                        new AsciiString(origin.substring(0, wildcard + 3)),
                        new AsciiString(origin.substring(wildcard + WILDCARD.length() - 1))));
            }
        }
    }

    boolean allowsAll() {
        return all;
    }

    /** Whether pages of an origin are allowed. */
    boolean allow(AsciiString origin) {
        if (all) {
            return true;
        }
        AsciiString lower = origin.toLowerCase();
        if (exact.contains(lower)) {
            return true;
        }
        for (int i = 0; i < below.size(); i++) {
            if (below.get(i).has(lower)) {
                return true;
            }
        }
        return false;
    }
}
