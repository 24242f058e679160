package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects the bytes of one head, or of one trailer section, up to and including the empty line that ends it, in the
 * array that then becomes the message's {@link Fields}: one copy out of the socket's buffer. Remembers how far it has
 * searched, so a head that comes byte by byte costs no more than one that comes at once. In what it has collected, every
 * LF follows a CR.
 */
final class HeadCollector {
    /** Room behind the lines of a request for fields the gateway adds without copying the array. */
    private static final int REQUEST_ROOM = 256;

    /** The same behind those of a response. */
    private static final int ROOM = 64;

    /** Empty lines tolerated before a request line (RFC 9112, section 2.2). */
    private static final int MAX_EMPTY_LINES = 4;

    private static final byte[] EMPTY = {};

    private final HeadLimits limits;
    private final Kind kind;
    private byte[] bytes = EMPTY;
    private int end;
    private int lineStart;
    private int fieldsStart;
    private int emptyLines;
    private int lines; // that have ended, the empty one included
    private @Nullable Http1Violation violation;

    HeadCollector(HeadLimits limits, Kind kind) {
        this.limits = limits;
        this.kind = kind;
    }

    /** What is collected. */
    enum Kind {
        REQUEST(true, false),
        RESPONSE(false, false),
        REQUEST_TRAILERS(true, true),
        RESPONSE_TRAILERS(false, true);

        private final boolean strict;
        private final boolean trailers;

        Kind(boolean strict, boolean trailers) {
            this.strict = strict;
            this.trailers = trailers;
        }

        /** Whether each line must end in CRLF. Of upstreams, a LF alone is the end of a line, too (RFC 9112, section 2.2). */
        boolean isStrict() {
            return strict;
        }

        boolean isTrailers() {
            return trailers;
        }
    }

    /** Forgets what was collected; the array belongs to the code that has taken it. */
    void reset() {
        bytes = EMPTY;
        end = lineStart = fieldsStart = emptyLines = lines = 0;
        violation = null;
    }

    /** Whether any byte of the section has come. */
    boolean isStarted() {
        return end > 0;
    }

    byte[] bytes() {
        return bytes;
    }

    int end() {
        return end;
    }

    /** Returns how many bytes of heap the section takes by now. */
    int heldBytes() {
        return bytes.length;
    }

    /** Returns how many lines the section has, the empty one at its end included. */
    int lines() {
        return lines;
    }

    /** Returns what was wrong once {@link #collect} has returned {@link Progress#REFUSED}. */
    Http1Violation violation() {
        return Objects.requireNonNull(violation);
    }

    /** Takes the section's bytes off the buffer, none beyond them. */
    Progress collect(ByteBuf in) {
        int start = in.readerIndex();
        int limit = in.writerIndex();
        int from = start;
        for (int lf = in.indexOf(from, limit, (byte) '\n'); lf >= 0; lf = in.indexOf(from, limit, (byte) '\n')) {
            int position = end + lf - start; // where this LF comes to stand in the array
            if (position == lineStart || (lf > start ? in.getByte(lf - 1) : bytes[end - 1]) != '\r') {
                if (kind.isStrict()) {
                    return refuse(Http1Violation.BARE_LF);
                }
                appendWithCr(in, lf - start);
                start = lf;
                position = end;
            }
            from = lf + 1;
            lines++;
            if (position > lineStart + 1) {
                if (lineStart == 0 && !kind.isTrailers()) {
                    if (position >= limits.maxFirstLine()) {
                        return refuse(tooLong(in, start, lf));
                    }
                    fieldsStart = position + 1;
                }
                lineStart = position + 1;
            } else if (lineStart > 0 || kind.isTrailers()) {
                if (position + 1 - fieldsStart > limits.maxFieldBytes()) {
                    return refuse(Http1Violation.FIELDS_TOO_LARGE);
                }
                append(in, from - start, kind == Kind.REQUEST ? REQUEST_ROOM : ROOM);
                return Progress.COMPLETE;
            } else {
                if (kind != Kind.REQUEST || ++emptyLines > MAX_EMPTY_LINES) {
                    return refuse(
                            kind == Kind.REQUEST ? Http1Violation.BAD_REQUEST_LINE : Http1Violation.BAD_STATUS_LINE);
                }
                in.readerIndex(from);
                start = from;
                end = lines = 0;
            }
        }
        int total = end + limit - start;
        if (lineStart == 0 && !kind.isTrailers()) {
            if (total >= limits.maxFirstLine()) {
                return refuse(tooLong(in, start, limit));
            }
        } else if (total - fieldsStart > limits.maxFieldBytes()) {
            return refuse(Http1Violation.FIELDS_TOO_LARGE);
        }
        append(in, limit - start, Math.max(REQUEST_ROOM, total / 4)); // what comes in many pieces is copied seldom
        return Progress.MORE;
    }

    /** A first line that is too long, and of a request has no space yet, is all method, and not a URI. */
    private Http1Violation tooLong(ByteBuf in, int start, int limit) {
        if (kind == Kind.REQUEST && in.indexOf(start, limit, (byte) ' ') < 0) {
            for (int i = 0; i < end; i++) {
                if (bytes[i] == ' ') {
                    return Http1Violation.LINE_TOO_LONG;
                }
            }
            return Http1Violation.METHOD_TOO_LONG;
        }
        return Http1Violation.LINE_TOO_LONG;
    }

    /** Takes what stands before a bare LF, and puts the missing CR behind it, so that all lines end alike from here on. */
    private void appendWithCr(ByteBuf in, int length) {
        append(in, length, Math.max(REQUEST_ROOM, (end + length) / 4));
        if (end == bytes.length) {
            bytes = Arrays.copyOf(bytes, end + Math.max(REQUEST_ROOM, end / 4));
        }
        bytes[end++] = '\r';
    }

    private void append(ByteBuf in, int length, int room) {
        if (end + length > bytes.length) {
            bytes = Arrays.copyOf(bytes, end + length + room);
        }
        in.readBytes(bytes, end, length);
        end += length;
    }

    private Progress refuse(Http1Violation violation) {
        this.violation = violation;
        return Progress.REFUSED;
    }
}
