package dev.gateway.protocol.socks;

import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.format.IpLiteral;
import dev.gateway.net.ParentHandshake;
import dev.gateway.stream.Cause;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * SOCKS5 client handshake: asks a SOCKS proxy for a connection (RFC 1928), with a name and a password if it wants some (RFC
 * 1929). The destination's name is left to the proxy to resolve.
 */
public final class SocksHandshake extends ParentHandshake {
    private static final int VERSION = 5;
    private static final int LOGIN_VERSION = 1;
    private static final int NO_LOGIN = 0;
    private static final int LOGIN = 2;
    private static final int CONNECT = 1;
    private static final int IPV4 = 1;
    private static final int NAME = 3;
    private static final int IPV6 = 4;
    private static final int MAX_TEXT = 255;

    private final Destination destination;
    private final @Nullable NameAndPassword login;
    private final byte[] reply = new byte[MAX_TEXT + 7]; // of the longest name, with all around it
    private int received;
    private State state = State.METHOD;

    /** What the next bytes answer. */
    private enum State {
        METHOD,
        LOGIN,
        REQUEST
    }

    /**
     * Where to.
     *
     * @param host a name of at most 255 bytes, or an IP literal without brackets
     */
    public record Destination(String host, int port) {}

    /**
     * Makes the handler of one connection.
     *
     * @param login who we are, at most 255 bytes of UTF-8 each
     */
    public SocksHandshake(Destination destination, @Nullable NameAndPassword login, Outcome outcome) {
        super(outcome);
        this.destination = destination;
        this.login = login;
    }

    @Override
    protected void begin(ChannelHandlerContext ctx) {
        ByteBuf out = ctx.alloc().buffer(4).writeByte(VERSION);
        if (login == null) {
            out.writeByte(1).writeByte(NO_LOGIN);
        } else {
            out.writeByte(2).writeByte(NO_LOGIN).writeByte(LOGIN);
        }
        ctx.writeAndFlush(out, ctx.voidPromise());
    }

    @Override
    protected boolean read(ChannelHandlerContext ctx, ByteBuf in) {
        while (in.isReadable() && !isOver()) {
            reply[received++] = in.readByte();
            switch (state) {
                case METHOD -> onMethod(ctx);
                case LOGIN -> onLogin(ctx);
                case REQUEST -> {
                    if (isAgreed()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private void onMethod(ChannelHandlerContext ctx) {
        if (isOf(VERSION) && received == 2) {
            int method = reply[1] & 0xff;
            if (method == NO_LOGIN) {
                ask(ctx);
            } else if (method == LOGIN && login != null) {
                logIn(ctx, login);
            } else if (method == 0xff) {
                refuse(Cause.CONNECT_FAILED, login == null ? "wants a name and a password" : "accepts no password");
            } else {
                refuse(Cause.UPSTREAM_PROTOCOL_ERROR, "chose an authentication method that the gateway did not offer");
            }
        }
    }

    private void logIn(ChannelHandlerContext ctx, NameAndPassword shown) {
        ByteBuf out = ctx.alloc().buffer().writeByte(LOGIN_VERSION);
        writeText(out, shown.name());
        writeText(out, shown.password());
        await(State.LOGIN);
        ctx.writeAndFlush(out, ctx.voidPromise());
    }

    private void onLogin(ChannelHandlerContext ctx) {
        if (isOf(LOGIN_VERSION) && received == 2) {
            if (reply[1] == 0) {
                ask(ctx);
            } else {
                refuse(Cause.CONNECT_FAILED, "refuses our name and password");
            }
        }
    }

    private void ask(ChannelHandlerContext ctx) {
        ByteBuf out = ctx.alloc().buffer().writeByte(VERSION).writeByte(CONNECT).writeByte(0);
        InetAddress literal = IpLiteral.parse(destination.host());
        if (literal == null) {
            writeText(out.writeByte(NAME), destination.host());
        } else {
            byte[] address = literal.getAddress();
            out.writeByte(address.length == 4 ? IPV4 : IPV6).writeBytes(address);
        }
        out.writeShort(destination.port());
        await(State.REQUEST);
        ctx.writeAndFlush(out, ctx.voidPromise());
    }

    private static void writeText(ByteBuf out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_TEXT) {
            throw new IllegalArgumentException("too long for SOCKS");
        }
        out.writeByte(bytes.length).writeBytes(bytes);
    }

    private void await(State next) {
        state = next;
        received = 0;
    }

    /** Looks at the reply to the request; the address that is in it is nobody's business here. */
    private boolean isAgreed() {
        if (!isOf(VERSION) || received < 2) {
            return false;
        }
        if (reply[1] != 0) {
            refuse(SocksReply.cause(reply[1] & 0xff), "answered " + SocksReply.text(reply[1] & 0xff));
            return false;
        }
        if (received < 5) {
            return false;
        }
        int address =
                switch (reply[3]) {
                    case IPV4 -> 4;
                    case NAME -> 1 + (reply[4] & 0xff);
                    case IPV6 -> 16;
                    default -> -1;
                };
        if (address < 0) {
            refuse(Cause.UPSTREAM_PROTOCOL_ERROR, "answered with an address of no known kind");
            return false;
        }
        return received == 4 + address + 2;
    }

    private boolean isOf(int version) {
        if (reply[0] != version) {
            refuse(Cause.UPSTREAM_PROTOCOL_ERROR, "does not speak SOCKS 5");
            return false;
        }
        return true;
    }
}
