package dev.gateway.protocol.http1;

import dev.gateway.message.Ascii;
import dev.gateway.message.ContentLength;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Serializes heads, the size of each being known before, with the fields that frame the message and no others. */
final class HeadWriter {
    private static final byte[] VERSION_END = bytes(" HTTP/1.1\r\n");
    private static final byte[] SCHEME_END = bytes("://");
    private static final byte[] PROXY_AUTHORIZATION = bytes("Proxy-Authorization: ");
    private static final byte[] HOST = bytes("Host: ");
    private static final byte[] CONTENT_LENGTH = bytes("Content-Length: ");
    private static final byte[] CHUNKED = bytes("Transfer-Encoding: chunked\r\n");
    private static final byte[] CLOSE = bytes("Connection: close\r\n");
    private static final byte[] KEEP_ALIVE = bytes("Connection: keep-alive\r\n");
    private static final byte[] CONNECTION_TE = bytes("Connection: TE\r\n");
    private static final byte[] CONNECTION_UPGRADE = bytes("Connection: Upgrade\r\n");
    private static final byte[] KEEP_ALIVE_UPGRADE = bytes("Connection: keep-alive, Upgrade\r\n");
    private static final byte[] CLOSE_UPGRADE = bytes("Connection: close, Upgrade\r\n");
    private static final byte[] CONNECTION_UPGRADE_TE = bytes("Connection: Upgrade, TE\r\n");
    private static final byte[] CONNECTION_UPGRADE_SETTINGS = bytes("Connection: Upgrade, HTTP2-Settings\r\n");
    private static final byte[] CONNECTION_UPGRADE_SETTINGS_TE = bytes("Connection: Upgrade, HTTP2-Settings, TE\r\n");
    private static final byte[] NOTHING = {};
    private static final int CRLF = '\r' << 8 | '\n';

    private HeadWriter() {}

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** What a response says about its connection. */
    enum Persistence {
        /** Nothing: it persists, as is usual. */
        DEFAULT(NOTHING, CONNECTION_UPGRADE),
        /** It persists, which an HTTP/1.0 client must be told, and one that takes us for its proxy likes to be. */
        KEEP_ALIVE(HeadWriter.KEEP_ALIVE, KEEP_ALIVE_UPGRADE),
        CLOSE(HeadWriter.CLOSE, CLOSE_UPGRADE);

        private final byte[] line;
        private final byte[] withUpgrade;

        Persistence(byte[] line, byte[] withUpgrade) {
            this.line = line;
            this.withUpgrade = withUpgrade;
        }

        /** Returns the line, which names {@code Upgrade} if that is there (RFC 9110, section 7.8). */
        private byte[] line(Fields fields) {
            return fields.contains(FieldName.UPGRADE) ? withUpgrade : line;
        }
    }

    /**
     * Writes a response head.
     *
     * @param room where so many bytes go, behind those that may be there
     * @param length the Content-Length to write, negative for none
     * @return the head's size
     */
    static int response(
            IntFunction<ByteBuf> room, ResponseHead head, Framing framing, long length, Persistence persistence) {
        Fields fields = head.fields();
        fields.remove(FieldName.CONNECTION);
        fields.remove(FieldName.KEEP_ALIVE);
        fields.remove(FieldName.PROXY_CONNECTION);
        long added = prepareLength(fields, length);
        byte[] start = StatusLine.of(head);
        byte[] coding = framing == Framing.CHUNKED ? CHUNKED : NOTHING;
        byte[] connection = persistence.line(fields);
        int size = start.length + fields.wireLength() + coding.length + lengthSize(added) + connection.length + 2;
        ByteBuf out = room.apply(size);
        out.writeBytes(start);
        fields.writeTo(out);
        out.writeBytes(coding);
        writeLength(out, added);
        out.writeBytes(connection);
        out.writeShort(CRLF);
        return size;
    }

    /** The last proxy makes an asterisk of a URI without a path, and no proxy before it (RFC 9112, section 3.2.4). */
    private static AsciiString target(AsciiString path, boolean absolute) {
        return absolute && path.contentEquals("*") ? AsciiString.EMPTY_STRING : path;
    }

    /**
     * Writes a request head into a buffer of its own.
     *
     * @param length the Content-Length to write, negative for none
     * @param proxy who forwards it and is told its whole URI (RFC 9112, section 3.2.2), or null
     */
    static ByteBuf request(
            ByteBufAllocator alloc,
            RequestHead head,
            Framing framing,
            long length,
            Http1ClientSettings.@Nullable Proxy proxy) {
        Fields fields = head.fields();
        fields.remove(FieldName.CONNECTION);
        fields.remove(FieldName.KEEP_ALIVE);
        fields.remove(FieldName.PROXY_CONNECTION);
        long added = prepareLength(fields, length);
        boolean upgrade = head.protocol() != null || head.wish() != null;
        AsciiString method = head.routedMethod().name();
        boolean tunnel = head.isConnect() && head.protocol() == null;
        AsciiString scheme = proxy == null || tunnel ? null : head.scheme();
        AsciiString target = tunnel ? head.authority() : target(head.forwardedPath(), scheme != null);
        AsciiString authorization = proxy == null ? null : proxy.authorization();
        AsciiString host = fields.contains(FieldName.HOST) ? null : head.authority();
        byte[] coding = framing == Framing.CHUNKED ? CHUNKED : NOTHING;
        byte[] connection = connection(fields, upgrade);
        int size = method.length()
                + 1
                + (scheme == null
                        ? 0
                        : scheme.length() + SCHEME_END.length + head.authority().length())
                + target.length()
                + VERSION_END.length
                + (host == null ? 0 : HOST.length + host.length() + 2)
                + fields.wireLength()
                + (authorization == null ? 0 : PROXY_AUTHORIZATION.length + authorization.length() + 2)
                + coding.length
                + lengthSize(added)
                + connection.length
                + 2;
        ByteBuf out = alloc.directBuffer(size, size);
        write(out, method);
        out.writeByte(' ');
        if (scheme != null) {
            write(out, scheme);
            out.writeBytes(SCHEME_END);
            write(out, head.authority());
        }
        write(out, target);
        out.writeBytes(VERSION_END);
        if (host != null) {
            out.writeBytes(HOST);
            write(out, host);
            out.writeShort(CRLF);
        }
        fields.writeTo(out);
        if (authorization != null) {
            out.writeBytes(PROXY_AUTHORIZATION);
            write(out, authorization);
            out.writeShort(CRLF);
        }
        out.writeBytes(coding);
        writeLength(out, added);
        out.writeBytes(connection);
        out.writeShort(CRLF);
        return out;
    }

    /** Returns the line that names the fields which concern this connection only. */
    private static byte[] connection(Fields fields, boolean upgrade) {
        boolean te = fields.contains(FieldName.TE);
        if (!upgrade) {
            return te ? CONNECTION_TE : NOTHING;
        }
        if (fields.contains(FieldName.HTTP2_SETTINGS)) {
            return te ? CONNECTION_UPGRADE_SETTINGS_TE : CONNECTION_UPGRADE_SETTINGS;
        }
        return te ? CONNECTION_UPGRADE_TE : CONNECTION_UPGRADE;
    }

    /** Removes framing fields that would contradict; returns the length that must be added, or a negative number. */
    private static long prepareLength(Fields fields, long length) {
        fields.remove(FieldName.TRANSFER_ENCODING);
        int at = fields.find(FieldName.CONTENT_LENGTH, 0);
        if (at < 0) {
            return length;
        }
        if (length >= 0
                && ContentLength.parse(fields, at) == length
                && fields.valueLength(at) == Ascii.digits(length) // no needless zeros
                && fields.find(FieldName.CONTENT_LENGTH, at + 1) < 0) {
            return -1; // stays where it stands, so that the lines go out in one copy
        }
        fields.remove(FieldName.CONTENT_LENGTH);
        return length;
    }

    private static int lengthSize(long length) {
        return length < 0 ? 0 : CONTENT_LENGTH.length + Ascii.digits(length) + 2;
    }

    private static void writeLength(ByteBuf out, long length) {
        if (length >= 0) {
            out.writeBytes(CONTENT_LENGTH);
            int digits = Ascii.digits(length);
            int start = out.writerIndex();
            long rest = length;
            for (int i = digits - 1; i >= 0; i--) {
                out.setByte(start + i, (int) ('0' + rest % 10));
                rest /= 10;
            }
            out.writerIndex(start + digits);
            out.writeShort(CRLF);
        }
    }

    private static void write(ByteBuf out, AsciiString text) {
        out.writeBytes(text.array(), text.arrayOffset(), text.length());
    }
}
