package dev.gateway.message.path;

import io.netty.util.AsciiString;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Path form: the form in which a path is forwarded. Rules and filters always see the normal form, see {@link PathNormalizer}.
 * Another form is for upstreams to which the bytes of a path mean something, as where the client has signed them.
 *
 * <p>A filter that decides by the path decides about the normal form. So rules with such a filter have forms of their own,
 * which no upstream reads otherwise.
 */
public enum PathForm {
    /** What rules have matched. */
    NORMAL,
    /** The normal form with repeated slashes. */
    SLASHES_KEPT,
    /** As the client wrote it. */
    AS_WRITTEN,
    /** The normal form, of paths that have no repeated slashes. */
    SLASHES_REFUSED,
    /** As the client wrote it, which differs from the normal form in needless escapes only. */
    ESCAPES_KEPT;

    private static final AsciiString SLASH = new AsciiString("/");

    /** Returns the form for a rule with a filter that decides by the path. */
    public PathForm whereFiltersDecide() {
        return switch (this) {
            case SLASHES_KEPT -> SLASHES_REFUSED;
            case AS_WRITTEN -> ESCAPES_KEPT;
            default -> this;
        };
    }

    /**
     * Returns how the path is forwarded, and then how else an upstream may read it. Empty if that would be another path than
     * rules and filters have seen: {@code /a//../b} is {@code /b} with its slashes merged, and else {@code /a/b}.
     *
     * @param written a path that has a normal form
     * @param normal the normal form
     */
    public List<AsciiString> of(AsciiString written, AsciiString normal) {
        if (this == NORMAL) {
            return List.of(normal);
        }
        AsciiString slashes = PathNormalizer.keepSlashes(written);
        if (slashes == null || !normal.equals(PathNormalizer.normalize(slashes))) {
            return List.of();
        }
        if (this == SLASHES_REFUSED) {
            return slashes.equals(normal) ? List.of(normal) : List.of();
        }
        if (this == ESCAPES_KEPT) {
            return normal.equals(PathNormalizer.keepDots(written, false)) ? List.of(written, normal) : List.of();
        }
        Set<AsciiString> forms = new LinkedHashSet<>();
        if (this == AS_WRITTEN) {
            forms.add(written);
            addUnresolved(forms, PathNormalizer.keepDots(written, false));
            addUnresolved(forms, PathNormalizer.keepDots(written, true));
            addResolved(forms, written, slashes, normal);
        }
        forms.add(slashes);
        for (AsciiString form : List.copyOf(forms)) {
            addWithoutHost(forms, form);
        }
        return List.copyOf(forms);
    }

    /**
     * Adds a path for servers that resolve no dot segments. They may also serve it by a rule for what stands before the first
     * {@code ..}.
     */
    private static void addUnresolved(Set<AsciiString> forms, @Nullable AsciiString dots) {
        if (dots == null) {
            return;
        }
        forms.add(dots);
        String path = dots.toString(0, pathLength(dots)) + "/";
        int climb = path.indexOf("/../");
        if (climb > 0) {
            forms.add(dots.subSequence(0, climb).concat(dots.subSequence(pathLength(dots))));
        }
    }

    /** Adds what other servers make of dot segments. Some see none in {@code %2e}. Go drops the slash that one at the end leaves. */
    private static void addResolved(
            Set<AsciiString> forms, AsciiString written, AsciiString slashes, AsciiString normal) {
        int end = pathLength(written);
        AsciiString query = written.subSequence(end);
        AsciiString raw = PathReadings.resolve(written, end).concat(query);
        forms.add(raw);
        addUnresolved(forms, PathNormalizer.keepDots(raw, true)); // which are seen when the escapes are decoded
        if (written.byteAt(end - 1) != '/') { // else no dot segment is at the end
            for (AsciiString each : List.of(slashes, normal, raw)) {
                int length = pathLength(each);
                if (length > 1 && each.byteAt(length - 1) == '/') {
                    forms.add(each.subSequence(0, length - 1).concat(query));
                }
            }
        }
    }

    /** Adds what is left of {@code //a/b} for servers that take {@code a} for a host, as Node's {@code URL} does. */
    private static void addWithoutHost(Set<AsciiString> forms, AsciiString form) {
        int host = 0;
        int end = pathLength(form);
        while (host < end && form.byteAt(host) == '/') {
            host++;
        }
        if (host > 1) {
            int path = form.indexOf('/', host);
            AsciiString rest = form.subSequence(path < 0 || path > end ? end : path);
            forms.add(rest.startsWith("/") ? rest : SLASH.concat(rest));
        }
    }

    private static int pathLength(AsciiString path) {
        int query = path.indexOf('?', 0);
        return query < 0 ? path.length() : query;
    }
}
