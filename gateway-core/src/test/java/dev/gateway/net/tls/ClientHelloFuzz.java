package dev.gateway.net.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.format.crypto.KeyKind;
import dev.gateway.net.tls.ClientHello.Hello;
import dev.gateway.net.tls.ClientHello.Incomplete;
import dev.gateway.net.tls.ClientHello.Reading;
import dev.gateway.net.tls.ClientHello.Refused;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.testing.CountedMemory;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * What a TLS client says first, read by a relay, which takes no part in the handshake, and by a listener that has
 * certificates. It begins with how the bytes are cut. The lengths are those of the records as well, if the bytes make a hello.
 */
final class ClientHelloFuzz {
    private ClientHelloFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        FuzzInput.Cut cut = input.cut();
        byte[] sent = input.rest();
        Reading reading = read(sent);
        checkSegments(cut, sent, reading);
        checkName(reading);
        checkListener(cut, sent, reading);
        if (reading instanceof Hello) {
            checkRecords(cut, sent, reading);
        }
    }

    private static Reading read(byte[] bytes) {
        return ClientHello.read(Unpooled.wrappedBuffer(bytes));
    }

    /** What the first bytes decide, more bytes do not change. */
    private static void checkSegments(FuzzInput.Cut cut, byte[] sent, Reading reading) {
        ByteBuf soFar = Unpooled.buffer();
        boolean decided = false;
        for (byte[] piece : cut.pieces(sent)) {
            soFar.writeBytes(piece);
            Reading now = ClientHello.read(soFar);
            assertEquals(0, soFar.readerIndex());
            if (decided || !(now instanceof Incomplete)) {
                decided = true;
                assertEquals(reading, now);
            }
        }
    }

    /** Rules compare the name as a text, so there is one form of each, and no empty label. */
    private static void checkName(Reading reading) {
        if (reading instanceof Hello hello && hello.serverName() != null) {
            String name = hello.serverName();
            assertFalse(name.isEmpty() || name.startsWith(".") || name.endsWith(".") || name.contains(".."), name);
            assertTrue(name.chars().allMatch(c -> c > ' ' && c < 127 && !(c >= 'A' && c <= 'Z')), name);
        }
    }

    /** The same message in other records is the same hello. */
    private static void checkRecords(FuzzInput.Cut cut, byte[] sent, Reading reading) {
        byte[] message = message(sent);
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        for (byte[] piece : cut.pieces(message)) {
            records.writeBytes(new byte[] {22, 3, 1, (byte) (piece.length >> 8), (byte) piece.length});
            records.writeBytes(piece);
        }
        Reading again = read(records.toByteArray());
        if (records.size() <= ClientHello.MAX_BYTES) {
            assertEquals(reading, again);
        } else {
            assertTrue(again.equals(reading) || again instanceof Refused, again::toString);
        }
    }

    /** Returns the message of a hello, which is known to be there. */
    private static byte[] message(byte[] sent) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        int at = 0;
        int length = Integer.MAX_VALUE;
        while (message.size() < length) {
            int size = (sent[at + 3] & 0xff) << 8 | (sent[at + 4] & 0xff);
            int end = Math.min(sent.length, at + 5 + size);
            message.writeBytes(Arrays.copyOfRange(sent, at + 5, end));
            at += 5 + size;
            byte[] begun = message.toByteArray();
            if (begun.length >= 4) {
                length = 4 + ((begun[1] & 0xff) << 16 | (begun[2] & 0xff) << 8 | (begun[3] & 0xff));
            }
        }
        return Arrays.copyOf(message.toByteArray(), length);
    }

    /**
     * A listener with certificates that reads a hello reads the name that a relay reads, however it is cut. It asks for a
     * context, without which there is no handshake, for nothing else.
     */
    private static void checkListener(FuzzInput.Cut cut, byte[] sent, Reading reading) {
        Listener whole = new Listener(List.of(sent));
        Listener pieces = new Listener(cut.pieces(sent));
        assertEquals(whole.names, pieces.names);
        assertEquals(whole.kinds, pieces.kinds);
        if (reading instanceof Hello hello) {
            assertEquals(List.of(String.valueOf(hello.serverName())), whole.names);
            assertFalse(whole.kinds.contains(KeyKind.OTHER));
        } else {
            assertEquals(List.of(), whole.names);
        }
    }

    /** A listener that has a certificate for no name, so that there is no handshake. */
    private static final class Listener implements HelloHandler.Server {
        private static final List<String> SUITES = List.of(
                "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "TLS_RSA_WITH_AES_256_CBC_SHA");

        final List<String> names = new ArrayList<>();
        final List<KeyKind> kinds = new ArrayList<>();

        Listener(List<byte[]> pieces) {
            EmbeddedChannel channel = new EmbeddedChannel();
            CountedMemory memory = new CountedMemory(channel);
            LoopBudget budget = new LoopBudget(new MemoryBudget(1L << 40, 1));
            Account account = new Account(budget, budget);
            channel.pipeline().addLast(new HelloHandler(this, account, 0), new Refusals());
            for (byte[] piece : pieces) {
                if (channel.isOpen()) {
                    channel.writeInbound(memory.of(piece));
                }
            }
            channel.finishAndReleaseAll();
            memory.assertNothingLeft();
            assertEquals(0, budget.held(), "bytes charged");
        }

        @Override
        public List<String> protocols() {
            return List.of();
        }

        @Override
        public @Nullable SslContext context(@Nullable String name, ByteBuf hello) {
            names.add(String.valueOf(name));
            KeyOffer offer = ClientHello.keyOffer(hello);
            for (KeyOffer.Spoken spoken : List.of(
                    KeyOffer.Spoken.of(List.of("TLSv1.3", "TLSv1.2"), SUITES),
                    KeyOffer.Spoken.of(List.of("TLSv1.2"), SUITES))) {
                for (KeyKind kind : KeyKind.values()) {
                    if (offer.takes(kind, spoken)) {
                        kinds.add(kind);
                    }
                }
            }
            return null;
        }

        @Override
        public SslHandler handler(SslContext context, ChannelHandlerContext ctx) {
            throw new AssertionError("there is no context");
        }
    }

    /** Takes what ends a handshake. Anything else that is thrown fails the target. */
    private static final class Refusals extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Throwable root = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
            if (!(root instanceof SSLException)) {
                ctx.fireExceptionCaught(cause);
            }
        }
    }
}
