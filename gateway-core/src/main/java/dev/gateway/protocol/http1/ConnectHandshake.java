package dev.gateway.protocol.http1;

import dev.gateway.message.FieldName;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ParentHandshake;
import dev.gateway.stream.Cause;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * HTTP CONNECT client: asks an HTTP proxy for a tunnel (RFC 9110, section 9.3.6). What it refuses with is for the log, not
 * for the client.
 */
public final class ConnectHandshake extends ParentHandshake {
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int GATEWAY_TIMEOUT = 504;
    private static final int MAX_SHOWN = 120;

    private final String authority;
    private final String via;
    private final @Nullable String credentials;
    private final ResponseParser parser = new ResponseParser(HeadLimits.DEFAULT);
    private int interim;

    /**
     * Makes the handler of one connection.
     *
     * @param authority host and port to be connected to
     * @param via the value of {@code Via}, empty for none
     * @param credentials the value of {@code Proxy-Authorization}, of the scheme Basic, or null
     */
    public ConnectHandshake(String authority, String via, @Nullable String credentials, Outcome outcome) {
        super(outcome);
        this.authority = authority;
        this.via = via;
        this.credentials = credentials;
    }

    @Override
    protected void begin(ChannelHandlerContext ctx) {
        String head = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n"
                + (via.isEmpty() ? "" : "Via: " + via + "\r\n")
                + (credentials == null ? "" : "Proxy-Authorization: " + credentials + "\r\n") + "\r\n";
        ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), head), ctx.voidPromise());
    }

    @Override
    protected boolean read(ChannelHandlerContext ctx, ByteBuf in) {
        while (in.isReadable() && !isOver()) {
            Progress progress = parser.parse(in);
            ResponseHead head = parser.head();
            if (progress == Progress.MORE) {
                return false;
            }
            if (progress == Progress.REFUSED || head == null) {
                refuse(
                        Cause.UPSTREAM_PROTOCOL_ERROR,
                        parser.violation().upstream().detail());
            } else if (head.status() == SWITCHING_PROTOCOLS) {
                refuse(
                        Cause.UPSTREAM_PROTOCOL_ERROR,
                        Http1Violation.UNEXPECTED_UPGRADE.upstream().detail());
            } else if (!head.isInterim()) {
                return isAgreed(head);
            } else if (++interim > ResponseHead.MAX_INTERIM) {
                refuse(
                        Cause.UPSTREAM_PROTOCOL_ERROR,
                        Http1Violation.TOO_MANY_INTERIM_RESPONSES.upstream().detail());
            }
        }
        return false;
    }

    private boolean isAgreed(ResponseHead head) {
        if (head.status() < 300) {
            return true; // whatever it says of a body: there is none
        }
        String said = "answered " + head.status() + shown(" ", head.reason())
                + shown(", Proxy-Status ", head.fields().first(FieldName.PROXY_STATUS));
        refuse(head.status() == GATEWAY_TIMEOUT ? Cause.CONNECT_TIMEOUT : Cause.CONNECT_FAILED, said);
        return false;
    }

    /** A proxy may repeat what it was shown, and what we were shown must not be logged. */
    private String shown(String before, @Nullable AsciiString text) {
        if (text == null || (credentials != null && repeats(text.toString(), credentials))) {
            return "";
        }
        StringBuilder shown = new StringBuilder(before);
        for (int i = 0; i < Math.min(text.length(), MAX_SHOWN); i++) {
            char c = text.charAt(i);
            shown.append(c < ' ' || c > '~' ? '?' : c);
        }
        return shown.toString();
    }

    /** Whether they are repeated as they were sent, or the password alone, in clear. */
    private static boolean repeats(String text, String credentials) {
        String sent = credentials.substring(credentials.indexOf(' ') + 1);
        // By bytes, as the text has them.
        String clear = new String(Base64.getDecoder().decode(sent), StandardCharsets.ISO_8859_1);
        return text.contains(sent) || text.contains(clear.substring(clear.indexOf(':') + 1));
    }
}
