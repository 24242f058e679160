package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.ContentLength;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.protocol.http1.HeadCollector.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the parsers of request and response heads share: collecting the bytes, the version, the fields, and how the body
 * is framed (RFC 9112, section 6). One per connection, used for one message after another.
 */
abstract sealed class HeadParser permits RequestParser, ResponseParser {
    private static final AsciiString CHUNKED = new AsciiString("chunked");
    private static final AsciiString CLOSE = new AsciiString("close");
    static final AsciiString KEEP_ALIVE = new AsciiString("keep-alive");

    /** What {@code Connection} may name. Each name is looked for among all fields, and no peer needs more than some. */
    private static final int MAX_CONNECTION_OPTIONS = 32;

    private final HeadLimits limits;
    private final boolean strict;
    private final HeadCollector collector;
    private @Nullable Http1Violation violation;
    private boolean http10;
    private boolean chunked;
    private boolean faulty;
    private boolean keepAlive;
    private long contentLength;

    HeadParser(HeadLimits limits, Kind kind) {
        this.limits = limits;
        this.strict = kind.isStrict();
        this.collector = new HeadCollector(limits, kind);
    }

    /**
     * Takes the head's bytes off the buffer, none beyond them. After {@link Progress#COMPLETE} or {@link
     * Progress#REFUSED} the next call begins the next head.
     */
    final Progress parse(ByteBuf in) {
        violation = null;
        Progress progress = collector.collect(in);
        if (progress == Progress.MORE) {
            Http1Violation found = collector.isStarted() ? checkStart(collector.bytes(), collector.end()) : null;
            return found == null ? Progress.MORE : refuse(found);
        }
        if (progress == Progress.REFUSED) {
            return refuse(collector.violation());
        }
        byte[] bytes = collector.bytes();
        int end = collector.end();
        int lines = Math.min(collector.lines(), limits.maxFields());
        collector.reset();
        http10 = chunked = faulty = keepAlive = false;
        contentLength = RequestHead.UNKNOWN_LENGTH;
        Http1Violation found = checkStart(bytes, end);
        if (found == null) {
            found = parse(bytes, end, lines);
        }
        return found == null ? Progress.COMPLETE : refuse(found);
    }

    /** Forgets what has come of a head, and the one last parsed, so that an idle connection does not keep them. */
    void forget() {
        collector.reset();
    }

    /** Returns how many bytes of heap a head takes of which not all has come. */
    final int heldBytes() {
        return collector.heldBytes();
    }

    private Progress refuse(Http1Violation found) {
        violation = found;
        collector.reset();
        return Progress.REFUSED;
    }

    /**
     * Whether the first bytes can begin a message. If not, it is in another protocol, most likely, and may not end as a head does.
     *
     * @param end how many bytes have come, at least one
     * @return what to say of it, or null if it may be one
     */
    abstract @Nullable Http1Violation checkStart(byte[] bytes, int end);

    /**
     * Parses a head that is complete; every LF in it follows a CR.
     *
     * @param lines about how many it has, and no more than there may be
     */
    abstract @Nullable Http1Violation parse(byte[] bytes, int end, int lines);

    /** Whether some of a head has come. */
    final boolean isStarted() {
        return collector.isStarted();
    }

    /** Returns what was wrong after {@link Progress#REFUSED}. */
    final Http1Violation violation() {
        return Objects.requireNonNull(violation);
    }

    /** Whether the peer spoke HTTP/1.0. */
    final boolean isHttp10() {
        return http10;
    }

    /** Whether the message has the chunked transfer coding. */
    final boolean isChunked() {
        return chunked;
    }

    /**
     * Whether the body's framing is such that another recipient may find its end elsewhere. Its sender's connection must
     * not persist (RFC 9112, sections 6.1 and 6.3).
     */
    final boolean isFramingFaulty() {
        return faulty;
    }

    /** Whether the peer lets the connection persist after this message (RFC 9112, section 9.3). */
    final boolean isKeepAlive() {
        return keepAlive;
    }

    /** Returns the value of Content-Length, or {@link RequestHead#UNKNOWN_LENGTH}. */
    final long contentLength() {
        return contentLength;
    }

    /**
     * Reads {@code HTTP/1.0} or {@code HTTP/1.1}. A later minor version is read as the latter (RFC 9110, section 6.2), and of an
     * upstream any later version. An upstream's earlier version is read as the former.
     */
    final @Nullable Http1Violation parseVersion(byte[] bytes, int at, int length) {
        if (length != 8
                || bytes[at] != 'H'
                || bytes[at + 1] != 'T'
                || bytes[at + 2] != 'T'
                || bytes[at + 3] != 'P'
                || bytes[at + 4] != '/'
                || !isDigit(bytes[at + 5])
                || bytes[at + 6] != '.'
                || !isDigit(bytes[at + 7])) {
            return Http1Violation.BAD_VERSION;
        }
        byte major = bytes[at + 5];
        if (strict && major != '1') {
            return Http1Violation.UNSUPPORTED_VERSION;
        }
        http10 = major == '0' || (major == '1' && bytes[at + 7] == '0');
        return null;
    }

    /** Parses the field lines and what they say about the body and the connection. */
    final @Nullable Http1Violation parseFields(byte[] bytes, int at, Fields fields) {
        Http1Violation found = FieldLines.parse(bytes, at, fields, limits.maxFields(), strict);
        if (found == null) {
            found = parseFraming(fields);
        }
        if (found == null && fields.countElements(FieldName.CONNECTION) > MAX_CONNECTION_OPTIONS) {
            found = Http1Violation.TOO_MANY_CONNECTION_OPTIONS;
        }
        if (found == null) {
            keepAlive = http10
                    ? fields.hasElement(FieldName.CONNECTION, KEEP_ALIVE)
                            && !fields.hasElement(FieldName.CONNECTION, CLOSE)
                    : !fields.hasElement(FieldName.CONNECTION, CLOSE);
        }
        return found;
    }

    private @Nullable Http1Violation parseFraming(Fields fields) {
        int length = fields.find(FieldName.CONTENT_LENGTH, 0);
        int coding = fields.find(FieldName.TRANSFER_ENCODING, 0);
        if (coding >= 0) {
            return parseCoding(fields, coding, length >= 0);
        }
        return length >= 0 ? parseLength(fields, length) : null;
    }

    /** Of an upstream, the coding counts where a length stands beside it, and in HTTP/1.0 as well. */
    private @Nullable Http1Violation parseCoding(Fields fields, int coding, boolean ambiguous) {
        if (strict && (ambiguous || http10)) {
            return ambiguous ? Http1Violation.AMBIGUOUS_LENGTH : Http1Violation.TRANSFER_ENCODING_IN_HTTP_1_0;
        }
        if (fields.find(FieldName.TRANSFER_ENCODING, coding + 1) >= 0) {
            return Http1Violation.DUPLICATE_TRANSFER_ENCODING;
        }
        chunked = true;
        faulty = ambiguous || http10;
        Http1Violation found = checkCoding(fields, coding);
        if (ambiguous) {
            fields.remove(FieldName.CONTENT_LENGTH);
        }
        return found;
    }

    private @Nullable Http1Violation checkCoding(Fields fields, int coding) {
        AsciiString value = fields.value(coding);
        if (value.contentEqualsIgnoreCase(CHUNKED)) {
            return null;
        }
        if (!strict) {
            List<AsciiString> elements = fields.elements(FieldName.TRANSFER_ENCODING); // without empty ones
            if (elements.size() == 1 && elements.get(0).contentEqualsIgnoreCase(CHUNKED)) {
                return null;
            }
        }
        int comma = value.lastIndexOf(",");
        AsciiString last = Ascii.trim(value.subSequence(comma + 1, value.length(), false));
        return comma > 0
                        && last.contentEqualsIgnoreCase(CHUNKED)
                        && !value.subSequence(0, comma, false).toLowerCase().contains(CHUNKED)
                ? Http1Violation.UNKNOWN_TRANSFER_CODING
                : Http1Violation.BAD_TRANSFER_ENCODING;
    }

    private @Nullable Http1Violation parseLength(Fields fields, int at) {
        boolean several = fields.find(FieldName.CONTENT_LENGTH, at + 1) >= 0;
        if (strict && several) {
            return Http1Violation.DUPLICATE_CONTENT_LENGTH;
        }
        contentLength = ContentLength.parse(fields, at);
        if (!strict && (several || contentLength < 0)) {
            return parseLengths(fields);
        }
        return contentLength < 0 ? Http1Violation.BAD_CONTENT_LENGTH : null;
    }

    /** Of an upstream, one length may be given several times. Others see it once (RFC 9112, section 6.3). */
    private @Nullable Http1Violation parseLengths(Fields fields) {
        faulty = true;
        contentLength = ContentLength.parseSame(fields);
        if (contentLength < 0) {
            return contentLength == ContentLength.DIFFERENT
                    ? Http1Violation.DUPLICATE_CONTENT_LENGTH
                    : Http1Violation.BAD_CONTENT_LENGTH;
        }
        fields.set(FieldName.CONTENT_LENGTH, contentLength);
        return null;
    }

    static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }
}
