package dev.gateway.protocol.http2;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * A head or trailers as the HPACK encoder takes them: pseudo-header fields, then views of {@link Fields}. One instance
 * serves a connection's writes one after another; each writer points it at what it sends. Left out is what HTTP/2 does
 * not carry (RFC 9113, section 8.2.2).
 */
final class SentHeaders extends HeadersAdapter {
    private static final AsciiString TRAILERS = new AsciiString("trailers");
    private static final AsciiString[] STATUSES = new AsciiString[600];
    private static final int RECENT = 256;
    private static final int SHORT = 128; // what is remembered of an event loop stays below RECENT times this
    private static final int TABLE = 4096;
    private static final Fields NONE = new Fields(new byte[0], 0, 0);

    static {
        for (int i = 100; i < STATUSES.length; i++) {
            STATUSES[i] = new AsciiString(Integer.toString(i));
        }
    }

    /** Connections mostly send the same texts, so those of an event loop remember them together. */
    private static final FastThreadLocal<@Nullable AsciiString[]> TEXTS = new FastThreadLocal<>() {
        @Override
        protected @Nullable AsciiString[] initialValue() {
            return new @Nullable AsciiString[RECENT];
        }
    };

    private final @Nullable AsciiString[] recent = TEXTS.get();
    private final AsciiString[] pseudo = new AsciiString[10];
    private final Entry entry = new Entry();
    private final Steps steps = new Steps();
    private int pseudoEnd;
    private int pseudoNext;
    private Fields fields = NONE;
    private int fieldNext;
    private boolean lengthless;
    private @Nullable AsciiString addedLength;

    /**
     * Points at a request's head.
     *
     * @param scheme of the connection that it is sent on, which servers compare: the head has that of the client's
     */
    SentHeaders request(RequestHead head, AsciiString scheme) {
        pseudoEnd = 0;
        AsciiString protocol = head.protocol();
        putPseudo(PseudoHeaderName.METHOD, head.method().name());
        if (!head.isConnect() || protocol != null) {
            putPseudo(PseudoHeaderName.SCHEME, scheme);
            putPseudo(PseudoHeaderName.PATH, lasting(head.forwardedPath()));
        }
        if (!head.authority().isEmpty()) {
            putPseudo(PseudoHeaderName.AUTHORITY, lasting(head.authority()));
        }
        if (protocol != null) {
            putPseudo(PseudoHeaderName.PROTOCOL, protocol);
        }
        return fields(head.fields(), head.contentLength(), false);
    }

    /** Points at a response's head. */
    SentHeaders response(ResponseHead head) {
        pseudoEnd = 0;
        int status = head.status();
        putPseudo(
                PseudoHeaderName.STATUS,
                status >= 100 && status < 600 ? STATUSES[status] : new AsciiString(Integer.toString(status)));
        boolean lengthless = status < 200 || status == 204; // whatever its fields say (RFC 9110, section 8.6)
        return fields(head.fields(), head.contentLength(), lengthless);
    }

    /** Points at trailers. */
    SentHeaders trailers(Fields trailers) {
        pseudoEnd = 0;
        return fields(trailers, RequestHead.UNKNOWN_LENGTH, false);
    }

    private SentHeaders fields(Fields fields, long contentLength, boolean lengthless) {
        this.fields = fields;
        this.lengthless = lengthless;
        // A length that only the head knows, such as that of a local reply; zero says no more than END_STREAM does.
        addedLength = contentLength > 0 && !lengthless && !fields.contains(FieldName.CONTENT_LENGTH)
                ? new AsciiString(Long.toString(contentLength))
                : null;
        return this;
    }

    private void putPseudo(PseudoHeaderName name, AsciiString value) {
        pseudo[pseudoEnd++] = name.value();
        pseudo[pseudoEnd++] = value;
    }

    /** Releases what was sent, so that an idle connection keeps no head. */
    void forget() {
        fields = NONE;
        pseudoEnd = 0;
        addedLength = null;
    }

    @Override
    public Iterator<Map.Entry<CharSequence, CharSequence>> iterator() {
        pseudoNext = 0;
        fieldNext = 0;
        skip();
        return steps;
    }

    private void skip() {
        while (fieldNext < fields.size() && isLeftOut(fieldNext)) {
            fieldNext++;
        }
    }

    /**
     * HPACK's table may keep what it is given, and a view would keep the head that it is part of. Texts sent before are
     * the same object again, which knows its hash.
     */
    private AsciiString lasting(AsciiString view) {
        if (view.length() > SHORT) {
            return copy(view);
        }
        int slot = view.hashCode() & (RECENT - 1);
        AsciiString known = recent[slot];
        if (known != null && known.equals(view)) {
            return known;
        }
        AsciiString copy = copy(view);
        recent[slot] = copy;
        return copy;
    }

    private static AsciiString copy(AsciiString view) {
        boolean fits = view.length() <= TABLE; // else the table does not keep it
        return fits ? new AsciiString(view.array(), view.arrayOffset(), view.length(), true) : view;
    }

    /** Credentials are nobody's but their connection's. */
    private AsciiString value(int id, AsciiString view) {
        if (id == FieldName.AUTHORIZATION.id() || id == FieldName.PROXY_AUTHORIZATION.id()) {
            return view; // never indexed, so nothing keeps it
        }
        return id == FieldName.COOKIE.id() || id == FieldName.SET_COOKIE.id() ? copy(view) : lasting(view);
    }

    private boolean isLeftOut(int i) {
        int id = fields.id(i);
        return id != 0
                && (ConnectionFields.isLeftOut(id)
                        || (lengthless && id == FieldName.CONTENT_LENGTH.id())
                        || (id == FieldName.TE.id() && !fields.value(i).contentEqualsIgnoreCase(TRAILERS)));
    }

    @Override
    public int size() {
        return pseudoEnd / 2 + fields.size();
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    /** The one iteration; starting another ends it. */
    private final class Steps implements Iterator<Map.Entry<CharSequence, CharSequence>> {
        @Override
        public boolean hasNext() {
            return pseudoNext < pseudoEnd || fieldNext <= fields.size() - (addedLength == null ? 1 : 0);
        }

        @Override
        public Map.Entry<CharSequence, CharSequence> next() {
            if (pseudoNext < pseudoEnd) {
                entry.name = pseudo[pseudoNext];
                entry.value = pseudo[pseudoNext + 1];
                pseudoNext += 2;
            } else if (fieldNext < fields.size()) {
                AsciiString name = fields.lowerName(fieldNext);
                entry.name = fields.id(fieldNext) != 0 ? name : lasting(name);
                entry.value = value(fields.id(fieldNext), fields.value(fieldNext));
                fieldNext++;
                skip();
            } else if (fieldNext == fields.size() && addedLength != null) {
                entry.name = FieldName.CONTENT_LENGTH.lower();
                entry.value = addedLength;
                fieldNext++;
            } else {
                throw new NoSuchElementException();
            }
            return entry;
        }
    }

    /** The one entry that every step of the iteration shows. */
    private static final class Entry implements Map.Entry<CharSequence, CharSequence> {
        private AsciiString name = AsciiString.EMPTY_STRING;
        private AsciiString value = AsciiString.EMPTY_STRING;

        @Override
        public CharSequence getKey() {
            return name;
        }

        @Override
        public CharSequence getValue() {
            return value;
        }

        @Override
        public CharSequence setValue(CharSequence value) {
            throw new UnsupportedOperationException();
        }
    }
}
