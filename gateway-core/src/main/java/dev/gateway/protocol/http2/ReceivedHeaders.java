package dev.gateway.protocol.http2;

import dev.gateway.message.Ascii;
import dev.gateway.message.ContentLength;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One header list as the HPACK decoder finds it: pseudo-header fields apart, all others straight into {@link Fields}.
 * Each is checked as it comes (RFC 9113, section 8.2); the first thing wrong is kept as {@link #problem}, because the
 * decoder has to go through the whole block all the same to keep its table. White space around a value is cut
 * off. Of upstreams, one length may be given several times, as other proxies do.
 */
final class ReceivedHeaders extends HeadersAdapter {
    private static final AsciiString METHOD = PseudoHeaderName.METHOD.value();
    private static final AsciiString SCHEME = PseudoHeaderName.SCHEME.value();
    private static final AsciiString AUTHORITY = PseudoHeaderName.AUTHORITY.value();
    private static final AsciiString PATH = PseudoHeaderName.PATH.value();
    private static final AsciiString STATUS = PseudoHeaderName.STATUS.value();
    private static final AsciiString PROTOCOL = PseudoHeaderName.PROTOCOL.value();
    private static final byte[] NO_CRUMBS = {};
    private static final AsciiString TRAILERS = new AsciiString("trailers");

    private final int maxFields;
    private final boolean strict;
    private final Fields fields = new Fields();
    private @Nullable AsciiString method;
    private @Nullable AsciiString scheme;
    private @Nullable AsciiString authority;
    private @Nullable AsciiString path;
    private @Nullable AsciiString status;
    private @Nullable AsciiString protocol;
    private @Nullable AsciiString host;
    private @Nullable AsciiString cookie;
    // The cookie, if it came in several. Grows by doubling, or many crumbs would be costly.
    private byte[] crumbs = NO_CRUMBS;
    private int crumbsLength;
    private long contentLength = RequestHead.UNKNOWN_LENGTH;
    private int unpacked;
    private boolean pseudo;
    private boolean tooMany;
    private @Nullable String problem;

    /**
     * Makes an empty list.
     *
     * @param strict whether it is read as that of a client, not of an upstream
     */
    ReceivedHeaders(int maxFields, boolean strict) {
        this.maxFields = maxFields;
        this.strict = strict;
    }

    @Override
    public Http2Headers add(CharSequence name, CharSequence value) {
        unpacked += name.length() + value.length();
        if (problem == null) {
            AsciiString ascii = AsciiString.of(name);
            if (ascii.length() > 0 && ascii.byteAt(0) == ':') {
                addPseudo(ascii, AsciiString.of(value));
            } else {
                addField(ascii, AsciiString.of(value));
            }
        }
        return this;
    }

    private void addPseudo(AsciiString name, AsciiString value) {
        pseudo = true;
        if (fields.size() > 0 || host != null || cookie != null) {
            problem = "a pseudo-header field after a regular one";
        } else if (!isValue(value) || isPadded(value)) {
            problem = "a control character in a pseudo-header field, or white space around it";
        } else if (name.equals(METHOD)) {
            method = once(method, value);
        } else if (name.equals(PATH)) {
            path = once(path, value);
        } else if (name.equals(SCHEME)) {
            scheme = once(scheme, value);
        } else if (name.equals(AUTHORITY)) {
            authority = once(authority, value);
        } else if (name.equals(STATUS)) {
            status = once(status, value);
        } else if (name.equals(PROTOCOL)) {
            protocol = once(protocol, value);
        } else {
            problem = "an unknown pseudo-header field";
        }
    }

    private AsciiString once(@Nullable AsciiString present, AsciiString value) {
        if (present != null) {
            problem = "a pseudo-header field given twice";
        }
        return value;
    }

    private void addField(AsciiString name, AsciiString value) {
        if (fields.size() == maxFields) {
            tooMany = true;
            return;
        }
        byte[] bytes = name.array();
        int start = name.arrayOffset();
        int length = name.length();
        boolean valid = length > 0 && length < 1 << 16;
        for (int i = start; valid && i < start + length; i++) {
            byte b = bytes[i];
            valid = Ascii.isToken(b) && Ascii.lower(b) == b;
        }
        if (!valid) {
            problem = "a field name that is not a lower-case token";
        } else if (!isValue(value)) {
            problem = "a field value with a control character";
        } else {
            // HTTP/1.1 cuts white space off, and so some peers forget to (RFC 9113, section 8.2.1).
            addChecked(name, FieldName.idOf(bytes, start, length), Ascii.trim(value));
        }
    }

    private void addChecked(AsciiString name, int id, AsciiString value) {
        if (id == 0) {
            fields.add(name, value);
        } else if (ConnectionFields.isForbidden(id)) {
            problem = "the connection-specific field " + name;
        } else if (id == FieldName.HOST.id()) {
            problem = host == null ? null : "host given twice";
            host = value;
        } else if (id == FieldName.COOKIE.id()) {
            // Crumbs make one field again: others may not take more (RFC 9113, section 8.2.3).
            addCrumb(value);
        } else if (id == FieldName.TE.id() && !value.contentEqualsIgnoreCase(TRAILERS)) {
            problem = "a TE other than trailers";
        } else {
            fields.add(name, value);
            if (id == FieldName.CONTENT_LENGTH.id()) {
                parseContentLength(value);
            }
        }
    }

    private void addCrumb(AsciiString crumb) {
        AsciiString first = cookie;
        if (first == null) {
            cookie = crumb;
            return;
        }
        if (crumbsLength == 0) {
            appendCrumb(first);
        }
        appendCrumb(crumb);
    }

    private void appendCrumb(AsciiString crumb) {
        if (crumb.isEmpty()) {
            return; // behind it or before it would be white space, which a value must not end or begin with
        }
        int needed = crumbsLength + 2 + crumb.length();
        if (needed > crumbs.length) {
            crumbs = Arrays.copyOf(crumbs, Math.max(needed, 2 * crumbs.length));
        }
        if (crumbsLength > 0) {
            crumbs[crumbsLength++] = ';';
            crumbs[crumbsLength++] = ' ';
        }
        System.arraycopy(crumb.array(), crumb.arrayOffset(), crumbs, crumbsLength, crumb.length());
        crumbsLength += crumb.length();
    }

    private void parseContentLength(AsciiString value) {
        boolean several = contentLength >= 0;
        if (several && strict) {
            problem = "content-length given twice";
            return;
        }
        contentLength = ContentLength.parse(value);
        if (!strict && (several || contentLength < 0)) {
            contentLength = ContentLength.parseSame(fields);
            if (contentLength >= 0) {
                fields.set(FieldName.CONTENT_LENGTH, contentLength);
            }
        }
        if (contentLength < 0) {
            problem = contentLength == ContentLength.DIFFERENT
                    ? "lengths that differ"
                    : "a content-length that is no length";
        }
    }

    /** None of the control characters that RFC 9113, section 8.2.1, and RFC 9110, section 5.5, rule out. */
    private static boolean isValue(AsciiString value) {
        byte[] bytes = value.array();
        int start = value.arrayOffset();
        for (int i = start; i < start + value.length(); i++) {
            if (!Ascii.isFieldValue(bytes[i])) {
                return false;
            }
        }
        return true;
    }

    /** Whether white space is around the value. */
    private static boolean isPadded(AsciiString value) {
        int length = value.length();
        return length > 0 && (Ascii.isSpace(value.byteAt(0)) || Ascii.isSpace(value.byteAt(length - 1)));
    }

    /** Returns the fields; the first call puts the joined cookie among them. */
    Fields fields() {
        if (cookie != null) {
            AsciiString whole = crumbsLength == 0 ? cookie : new AsciiString(crumbs, 0, crumbsLength, false);
            fields.add(FieldName.COOKIE.lower(), whole);
            cookie = null;
        }
        return fields;
    }

    @Override
    public @Nullable AsciiString method() {
        return method;
    }

    @Override
    public @Nullable AsciiString scheme() {
        return scheme;
    }

    @Override
    public @Nullable AsciiString authority() {
        return authority;
    }

    @Override
    public @Nullable AsciiString path() {
        return path;
    }

    @Override
    public @Nullable AsciiString status() {
        return status;
    }

    @Nullable
    AsciiString protocol() {
        return protocol;
    }

    @Nullable
    AsciiString host() {
        return host;
    }

    long contentLength() {
        return contentLength;
    }

    boolean hasPseudo() {
        return pseudo;
    }

    /** Returns how many bytes names and values have together, those that were dropped for a problem included. */
    int unpacked() {
        return unpacked;
    }

    /** Whether there were more fields than allowed; those beyond are dropped. */
    boolean isTooMany() {
        return tooMany;
    }

    /** Returns what makes the list malformed, or null. */
    @Nullable
    String problem() {
        return problem;
    }

    @Override
    public int size() {
        return fields.size();
    }
}
