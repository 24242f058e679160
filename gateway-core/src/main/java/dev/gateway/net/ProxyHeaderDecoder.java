package dev.gateway.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.ProtocolDetectionResult;
import io.netty.handler.codec.ProtocolDetectionState;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.haproxy.HAProxyProtocolException;
import io.netty.handler.codec.haproxy.HAProxyProtocolVersion;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads one PROXY protocol header and removes itself from the pipeline. Version 1, a line, is read here: Netty's decoder
 * refuses a port of 0, which the specification allows and which Caddy sends. Version 2 is left to Netty's decoder.
 */
final class ProxyHeaderDecoder extends ByteToMessageDecoder {
    private static final int MAX_TLV_BYTES = 4096;
    private static final int MAX_HEADER = ProxyChecksum.PREFIX + 216 + MAX_TLV_BYTES; // with the longest addresses
    private static final int MAX_LINE = 107; // with its line end
    private static final int PARTS = 6;
    private static final int MAX_PORT = 65_535;
    private static final int MAX_PORT_DIGITS = 5;

    private boolean read;

    ProxyHeaderDecoder() {
        setSingleDecode(true);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        super.channelRead(ctx, message);
        if (read) {
            read = false;
            ctx.pipeline().remove(this); // what follows the header goes to the next handler
        }
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        ProtocolDetectionResult<HAProxyProtocolVersion> found = HAProxyMessageDecoder.detectProtocol(in);
        if (found.state() == ProtocolDetectionState.NEEDS_MORE_DATA) {
            return;
        }
        if (found.detectedProtocol() != HAProxyProtocolVersion.V1) {
            if (found.detectedProtocol() == null || isDecidable(in)) {
                ctx.pipeline().replace(this, null, new HAProxyMessageDecoder(MAX_TLV_BYTES));
            }
            return;
        }
        int length = lineLength(in);
        if (length >= 0) {
            String line = in.readCharSequence(length, StandardCharsets.US_ASCII).toString();
            in.skipBytes(2);
            out.add(parse(line));
            read = true;
        } else if (in.readableBytes() >= MAX_LINE) {
            throw new HAProxyProtocolException("the line is too long");
        }
    }

    /** Whether a header of version 2 is there or is too long. Netty's decoder, which is next, verifies no checksum. */
    private static boolean isDecidable(ByteBuf in) {
        if (in.readableBytes() < ProxyChecksum.PREFIX) {
            return false;
        }
        int length = ProxyChecksum.PREFIX + in.getUnsignedShort(in.readerIndex() + ProxyChecksum.PREFIX - 2);
        if (length > MAX_HEADER) {
            return true;
        }
        if (in.readableBytes() < length) {
            return false;
        }
        if (ProxyChecksum.isWrong(in, length)) {
            throw new HAProxyProtocolException("the checksum is wrong");
        }
        return true;
    }

    private static int lineLength(ByteBuf in) {
        int last = in.readerIndex() + Math.min(in.readableBytes(), MAX_LINE) - 1;
        for (int i = in.readerIndex(); i < last; i++) {
            if (in.getByte(i) == '\r' && in.getByte(i + 1) == '\n') {
                return i - in.readerIndex();
            }
        }
        return -1;
    }

    private static HAProxyMessage parse(String line) {
        String[] parts = line.split(" ", -1);
        if (parts.length >= 2 && parts[0].equals("PROXY") && parts[1].equals("UNKNOWN")) {
            return message(HAProxyProxiedProtocol.UNKNOWN, null, null, 0, 0);
        }
        if (parts.length != PARTS || !parts[0].equals("PROXY")) {
            throw new HAProxyProtocolException("the line is malformed");
        }
        HAProxyProxiedProtocol protocol =
                switch (parts[1]) {
                    case "TCP4" -> HAProxyProxiedProtocol.TCP4;
                    case "TCP6" -> HAProxyProxiedProtocol.TCP6;
                    default -> throw new HAProxyProtocolException("the line has an unknown protocol");
                };
        return message(protocol, parts[2], parts[3], port(parts[4]), port(parts[5]));
    }

    private static HAProxyMessage message(
            HAProxyProxiedProtocol protocol,
            @Nullable String source,
            @Nullable String destination,
            int sourcePort,
            int destinationPort) {
        try {
            return new HAProxyMessage(
                    HAProxyProtocolVersion.V1,
                    HAProxyCommand.PROXY,
                    protocol,
                    source,
                    destination,
                    sourcePort,
                    destinationPort);
        } catch (IllegalArgumentException e) { // an invalid address, or one of the other family
            throw new HAProxyProtocolException(e);
        }
    }

    /** Returns a port; 0 stands for one that the proxy does not know. */
    private static int port(String text) {
        int port = text.isEmpty() || text.length() > MAX_PORT_DIGITS ? MAX_PORT + 1 : 0;
        for (int i = 0; i < text.length() && port <= MAX_PORT; i++) {
            int digit = text.charAt(i) - '0';
            port = digit < 0 || digit > 9 ? MAX_PORT + 1 : port * 10 + digit;
        }
        if (port > MAX_PORT) {
            throw new HAProxyProtocolException("the line has an invalid port");
        }
        return port;
    }
}
