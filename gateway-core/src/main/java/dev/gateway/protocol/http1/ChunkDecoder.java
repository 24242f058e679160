package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.protocol.http1.HeadCollector.Kind;
import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes the chunked transfer coding off (RFC 9112, section 7.1). Of clients strictly: white space only where the
 * grammar has BWS, no size beyond a long, only well-formed extensions and few of them. Of upstreams as other proxies do: zeros
 * before a size, anything behind it, and LF as the end of a line. Chunk data is not touched; the caller takes it off the
 * buffer. One per connection, used for one body after another.
 */
final class ChunkDecoder {
    private static final int MAX_EXTENSION_BYTES = 8 * 1024; // of one body of a client, of one line of an upstream
    private static final FieldName[] NOT_IN_TRAILERS = {
        FieldName.TRANSFER_ENCODING,
        FieldName.CONTENT_LENGTH,
        FieldName.HOST,
        FieldName.CONNECTION,
        FieldName.KEEP_ALIVE,
        FieldName.PROXY_CONNECTION,
        FieldName.TE,
        FieldName.TRAILER,
        FieldName.UPGRADE
    };

    private final HeadLimits limits;
    private final boolean strict;
    private final HeadCollector trailerLines;
    private State state = State.DONE;
    private int digits;
    private long remaining; // of the chunk; its size while that is being read
    private int extensionBytes; // white space before them and needless zeros of sizes included
    private @Nullable Http1Violation violation;
    private @Nullable Fields trailers;

    ChunkDecoder(HeadLimits limits, boolean strict) {
        this.limits = limits;
        this.strict = strict;
        this.trailerLines = new HeadCollector(limits, strict ? Kind.REQUEST_TRAILERS : Kind.RESPONSE_TRAILERS);
    }

    private enum State {
        SIZE,
        /** Behind a size or a value of an extension. */
        SPACE,
        /** Behind a name of an extension: an equals sign may follow. */
        NAME_SPACE,
        /** Of an upstream, whatever it says up to the end of the line. */
        EXTENSION,
        EXTENSION_NAME,
        EXTENSION_VALUE,
        EXTENSION_QUOTED,
        EXTENSION_ESCAPED,
        EXTENSION_END,
        SIZE_LF,
        DATA,
        DATA_CR,
        DATA_LF,
        TRAILERS,
        DONE
    }

    /** Begins a body. */
    void start() {
        state = State.SIZE;
        digits = 0;
        remaining = 0;
        extensionBytes = 0;
        violation = null;
        trailers = null;
        trailerLines.reset();
    }

    /** Returns how many bytes of heap trailers take of which not all has come. */
    int heldBytes() {
        return trailerLines.heldBytes();
    }

    /** Returns what was wrong after {@link Progress#REFUSED}. */
    Http1Violation violation() {
        return Objects.requireNonNull(violation);
    }

    /** Returns the trailer fields once the body is complete, null if there are none. */
    @Nullable
    Fields trailers() {
        return trailers;
    }

    /**
     * Returns how many bytes at the buffer's reader index are chunk data, after the caller has taken those before: 0 if
     * there is no data to be taken now, see {@link #progress}.
     */
    int next(ByteBuf in) {
        while (state != State.DONE && state != State.TRAILERS && in.isReadable()) {
            if (state == State.DATA) {
                int length = (int) Math.min(remaining, in.readableBytes());
                remaining -= length;
                if (remaining == 0) {
                    state = State.DATA_CR;
                }
                return length;
            }
            violation = step(in.readByte());
            if (violation != null) {
                return 0;
            }
        }
        if (state == State.TRAILERS) {
            readTrailers(in);
        }
        return 0;
    }

    /** Whether the body is complete, refused, or needs more input. */
    Progress progress() {
        return violation != null ? Progress.REFUSED : state == State.DONE ? Progress.COMPLETE : Progress.MORE;
    }

    private @Nullable Http1Violation step(byte b) {
        switch (state) {
            case SIZE -> {
                return size(b);
            }
            case SPACE,
                    NAME_SPACE,
                    EXTENSION,
                    EXTENSION_NAME,
                    EXTENSION_VALUE,
                    EXTENSION_QUOTED,
                    EXTENSION_ESCAPED,
                    EXTENSION_END -> {
                return ++extensionBytes > MAX_EXTENSION_BYTES
                        ? Http1Violation.CHUNK_EXTENSIONS_TOO_LARGE
                        : extension(b);
            }
            case SIZE_LF -> {
                if (b != '\n') {
                    return Http1Violation.BAD_CHUNK_SIZE;
                }
                endSizeLine();
            }
            case DATA_CR -> {
                if (b == '\r') {
                    state = State.DATA_LF;
                } else if (b == '\n' && !strict) {
                    startSize();
                } else {
                    return Http1Violation.BAD_CHUNK_END;
                }
            }
            case DATA_LF -> {
                if (b != '\n') {
                    return Http1Violation.BAD_CHUNK_END;
                }
                startSize();
            }
            case DATA, TRAILERS, DONE -> throw new IllegalStateException(state.name());
        }
        return null;
    }

    private void startSize() {
        state = State.SIZE;
        digits = 0;
        if (!strict) {
            extensionBytes = 0; // of this line only: some upstreams pad each size
        }
    }

    private void endSizeLine() {
        state = remaining == 0 ? State.TRAILERS : State.DATA;
    }

    private @Nullable Http1Violation size(byte b) {
        int digit = hex(b);
        if (digit >= 0) {
            boolean needless = ++digits > 16;
            if (remaining > Long.MAX_VALUE >> 4 || (needless && (strict || ++extensionBytes > MAX_EXTENSION_BYTES))) {
                return Http1Violation.BAD_CHUNK_SIZE;
            }
            remaining = remaining << 4 | digit;
        } else if (digits == 0) {
            return Http1Violation.BAD_CHUNK_SIZE;
        } else {
            return afterToken(b, Http1Violation.BAD_CHUNK_SIZE);
        }
        return null;
    }

    /** Takes what may follow a size or a complete extension: another extension, or the end of the line. */
    private @Nullable Http1Violation afterToken(byte b, Http1Violation otherwise) {
        if (b == ';') {
            state = strict ? State.EXTENSION_NAME : State.EXTENSION;
            digits = 0;
        } else if (b == ' ' || b == '\t') {
            state = state == State.EXTENSION_NAME || state == State.NAME_SPACE ? State.NAME_SPACE : State.SPACE;
        } else if (b == '\r' && !(strict && (state == State.SPACE || state == State.NAME_SPACE))) {
            state = State.SIZE_LF;
        } else if (b == '\n' && !strict) {
            endSizeLine();
        } else if (state == State.SPACE && !strict) {
            state = State.EXTENSION;
        } else {
            return otherwise;
        }
        return null;
    }

    // digits counts the bytes of the name or value here
    private @Nullable Http1Violation extension(byte b) {
        switch (state) {
            case EXTENSION_QUOTED -> {
                if (b == '"') {
                    state = State.EXTENSION_END;
                } else if (b == '\\') {
                    state = State.EXTENSION_ESCAPED;
                } else if (!Ascii.isFieldValue(b)) {
                    return Http1Violation.BAD_CHUNK_EXTENSION;
                }
                return null;
            }
            case EXTENSION_ESCAPED -> {
                state = State.EXTENSION_QUOTED;
                return Ascii.isFieldValue(b) ? null : Http1Violation.BAD_CHUNK_EXTENSION;
            }
            case EXTENSION_END, SPACE -> {
                return afterToken(b, Http1Violation.BAD_CHUNK_EXTENSION);
            }
            case NAME_SPACE -> {
                return afterName(b);
            }
            case EXTENSION -> {
                if (b == '\r' || b == '\n') {
                    return afterToken(b, Http1Violation.BAD_CHUNK_EXTENSION);
                }
                return null;
            }
            default -> {
                if (Ascii.isToken(b)) {
                    digits++;
                    return null;
                }
                if (digits == 0) {
                    if (b == ' ' || b == '\t') {
                        return null; // behind the semicolon or the equals sign
                    }
                    if (b == '"' && state == State.EXTENSION_VALUE) {
                        state = State.EXTENSION_QUOTED;
                        return null;
                    }
                    return Http1Violation.BAD_CHUNK_EXTENSION;
                }
                return state == State.EXTENSION_NAME ? afterName(b) : afterToken(b, Http1Violation.BAD_CHUNK_EXTENSION);
            }
        }
    }

    private @Nullable Http1Violation afterName(byte b) {
        if (b != '=') {
            return afterToken(b, Http1Violation.BAD_CHUNK_EXTENSION);
        }
        state = State.EXTENSION_VALUE;
        digits = 0;
        return null;
    }

    private void readTrailers(ByteBuf in) {
        Progress progress = trailerLines.collect(in);
        if (progress == Progress.REFUSED) {
            violation = trailerLines.violation();
        } else if (progress == Progress.COMPLETE) {
            state = State.DONE;
            if (trailerLines.end() > 2) {
                int lines = Math.min(trailerLines.lines(), limits.maxFields());
                Fields fields = new Fields(trailerLines.bytes(), trailerLines.end(), lines);
                violation = FieldLines.parse(trailerLines.bytes(), 0, fields, limits.maxFields(), strict);
                for (FieldName name : NOT_IN_TRAILERS) {
                    fields.remove(name); // they would reframe or reroute the message (RFC 9110, section 6.5.1)
                }
                trailers = fields.size() > 0 ? fields : null;
            }
            trailerLines.reset();
        }
    }

    private static int hex(byte b) {
        if (b >= '0' && b <= '9') {
            return b - '0';
        }
        int lower = b | 0x20;
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }
}
