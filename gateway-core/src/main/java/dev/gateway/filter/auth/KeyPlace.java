package dev.gateway.filter.auth;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.NameReadings;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where requests show a key. A key has to be written under its very name. One under a name that some recipient may read as
 * the same counts too, so that no upstream takes another key than the one that was checked. Immutable.
 */
public sealed interface KeyPlace {
    /** Returns the place that the settings of a filter name. */
    static KeyPlace of(CredentialPlace kind, String name) {
        return switch (kind) {
            case HEADER -> header(name);
            case QUERY_PARAMETER -> queryParameter(name);
            case COOKIE -> cookie(name);
        };
    }

    /** Returns a header field of that name. */
    static KeyPlace header(String name) {
        return new Header(FieldName.of(name));
    }

    /** Returns a cookie of that name. */
    static KeyPlace cookie(String name) {
        return new Cookie(new AsciiString(name));
    }

    /** Returns a query parameter of that name, written without escapes. */
    static KeyPlace queryParameter(String name) {
        return new QueryParameter(new AsciiString(name));
    }

    /**
     * Finds the key.
     *
     * @param take whether it is taken out of the head
     * @return null if the request has no such key, or several
     */
    @Nullable
    AsciiString find(RequestHead head, boolean take);

    /** A header field. */
    record Header(FieldName name) implements KeyPlace {
        @Override
        public @Nullable AsciiString find(RequestHead head, boolean take) {
            Fields fields = head.fields();
            int at = fields.find(name, 0);
            boolean several = OddNames.hasTwin(fields, name) || (at >= 0 && fields.find(name, at + 1) >= 0);
            AsciiString value = at < 0 || several ? null : fields.value(at);
            if (take) {
                OddNames.removeAlike(fields, name); // the bytes stay where they are
            }
            return value;
        }
    }

    /** A cookie. */
    record Cookie(AsciiString name) implements KeyPlace {
        @Override
        public @Nullable AsciiString find(RequestHead head, boolean take) {
            Fields fields = head.fields();
            Pairs pairs = new Pairs(name);
            for (int i = fields.find(FieldName.COOKIE, 0); i >= 0; i = fields.find(FieldName.COOKIE, i + 1)) {
                pairs.add(fields.value(i), ';');
            }
            if (take && pairs.isFound()) {
                fields.remove(FieldName.COOKIE);
                if (!pairs.rest.isEmpty()) {
                    fields.add(FieldName.COOKIE, String.join("; ", pairs.rest));
                }
            }
            return pairs.value();
        }
    }

    /** A query parameter. */
    record QueryParameter(AsciiString name) implements KeyPlace {
        @Override
        public @Nullable AsciiString find(RequestHead head, boolean take) {
            AsciiString path = head.path();
            int query = head.queryStart();
            if (query == path.length()) {
                return null;
            }
            Pairs pairs = new Pairs(name);
            pairs.add(path.subSequence(query + 1, path.length(), false), '&');
            if (take && pairs.isFound()) {
                head.setQuery(pairs.rest.isEmpty() ? "" : "?" + String.join("&", pairs.rest));
            }
            return pairs.value();
        }
    }

    /** The values of a name in lists of pairs, and all other pairs. */
    final class Pairs {
        private final AsciiString name;
        private final byte[] nameBytes;
        private final List<AsciiString> rest = new ArrayList<>();
        private @Nullable AsciiString first; // of those under their very name
        private int found;

        private Pairs(AsciiString name) {
            this.name = name;
            this.nameBytes = name.toByteArray();
        }

        private void add(AsciiString list, char separator) {
            char inner = separator == ';' ? ',' : ';'; // some recipients also separate there
            int start = 0;
            while (start <= list.length()) {
                int end = list.indexOf(separator, start);
                end = end < 0 ? list.length() : end;
                AsciiString pair = list.subSequence(start, end, false);
                AsciiString left = withoutKeys(separator == ';' ? Ascii.trim(pair) : pair, inner);
                if (!left.isEmpty()) {
                    rest.add(left);
                }
                start = end + 1;
            }
        }

        /** Counts the keys of a pair, and returns what is left without them. */
        private AsciiString withoutKeys(AsciiString pair, char inner) {
            int before = found;
            boolean whole = false;
            StringBuilder others = null;
            int start = 0;
            while (start <= pair.length()) {
                int end = pair.indexOf(inner, start);
                end = end < 0 ? pair.length() : end;
                if (isKey(pair, start, end)) {
                    found++;
                    whole |= start == 0;
                    others = others == null ? new StringBuilder(pair.subSequence(0, Math.max(0, start - 1))) : others;
                } else if (others != null) {
                    others.append(others.isEmpty() ? "" : inner).append(pair, start, end);
                }
                start = end + 1;
            }
            if (whole && pair.length() > name.length() && pair.startsWith(name) && pair.byteAt(name.length()) == '=') {
                first = pair.subSequence(name.length() + 1, pair.length(), false);
            }
            if (found == before) {
                return pair;
            }
            return whole || others == null ? AsciiString.EMPTY_STRING : new AsciiString(others);
        }

        /** Whether a part of a pair may be read as a key. The first one needs no value, since it is the pair. */
        private boolean isKey(AsciiString pair, int start, int end) {
            int nameEnd = start;
            while (nameEnd < end && pair.byteAt(nameEnd) != '=') {
                nameEnd++;
            }
            if (nameEnd == end && (start > 0 || start == end)) {
                return false;
            }
            int offset = pair.arrayOffset();
            return NameReadings.include(pair.array(), offset + start, offset + nameEnd, nameBytes);
        }

        private boolean isFound() {
            return found > 0;
        }

        private @Nullable AsciiString value() {
            return found == 1 ? first : null;
        }
    }
}
