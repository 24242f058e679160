package dev.gateway.protocol.socks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.net.ParentHandshake;
import dev.gateway.protocol.socks.SocksHandshake.Destination;
import dev.gateway.stream.Cause;
import dev.gateway.testing.CountedMemory;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What a SOCKS proxy answers. The first control byte says whether we have a password (1), and where to (0, 2, 4: a name, an
 * IPv4 or IPv6 address). Then follows how the bytes are cut.
 */
final class SocksFuzz {
    private static final List<String> HOSTS = List.of("a.test", "192.0.2.7", "2001:db8::7", "a");

    private SocksFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        int control = input.control();
        boolean login = (control & 1) != 0;
        String host = HOSTS.get(control >> 1 & 3);
        FuzzInput.Cut cut = input.cut();
        byte[] sent = input.rest();
        Conversation whole = new Conversation(host, login, List.of(sent));
        Conversation pieces = new Conversation(host, login, cut.pieces(sent));
        assertEquals(whole.outcomes, pieces.outcomes);
        assertEquals(whole.passed(), pieces.passed());
        assertEquals(whole.written(), pieces.written());
        int consent = consent(sent, login);
        assertEquals(consent >= 0, whole.outcomes.contains("agreed"));
        if (consent >= 0) {
            assertEquals(ByteBufUtil.hexDump(sent, consent, sent.length - consent), whole.passed());
        } else {
            assertEquals("", whole.passed());
        }
    }

    /** Returns how long a proxy's consent is that the bytes begin with, as RFC 1928 and RFC 1929 have it; -1 for none. */
    private static int consent(byte[] sent, boolean login) {
        int at = 0;
        if (begins(sent, at, 5, 0)) {
            at = 2;
        } else if (login && begins(sent, at, 5, 2) && begins(sent, 2, 1, 0)) {
            at = 4;
        } else {
            return -1;
        }
        if (!begins(sent, at, 5, 0) || sent.length < at + 5) {
            return -1;
        }
        int address =
                switch (sent[at + 3]) {
                    case 1 -> 4;
                    case 3 -> 1 + (sent[at + 4] & 0xff);
                    case 4 -> 16;
                    default -> Integer.MAX_VALUE / 2;
                };
        int end = at + 4 + address + 2;
        return sent.length >= end ? end : -1;
    }

    private static boolean begins(byte[] bytes, int at, int first, int second) {
        return bytes.length >= at + 2 && bytes[at] == first && bytes[at + 1] == second;
    }

    private static final class Conversation implements ParentHandshake.Outcome {
        final List<String> outcomes = new ArrayList<>();
        private final ByteArrayOutputStream passed = new ByteArrayOutputStream();
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        Conversation(String host, boolean login, List<byte[]> pieces) {
            EmbeddedChannel channel = new EmbeddedChannel();
            CountedMemory memory = new CountedMemory(channel);
            NameAndPassword shown = login ? new NameAndPassword("gateway", "secret") : null;
            channel.pipeline().addLast(new SocksHandshake(new Destination(host, 443), shown, this));
            for (byte[] piece : pieces) {
                channel.writeInbound(memory.of(piece));
            }
            collect(channel, channel::readInbound, passed);
            collect(channel, channel::readOutbound, written);
            assertTrue(outcomes.size() <= 1, outcomes::toString);
            channel.finishAndReleaseAll();
            assertEquals(1, outcomes.size(), "the end of the connection is an outcome, too");
            memory.assertNothingLeft();
        }

        private static void collect(EmbeddedChannel channel, Supplier<Object> queue, ByteArrayOutputStream to) {
            channel.runPendingTasks();
            for (Object next = queue.get(); next != null; next = queue.get()) {
                ByteBuf buffer = (ByteBuf) next;
                to.writeBytes(ByteBufUtil.getBytes(buffer));
                buffer.release();
            }
        }

        @Override
        public void onAgreed() {
            outcomes.add("agreed");
        }

        @Override
        public void onRefused(Cause cause, String detail) {
            outcomes.add(cause.label() + ": " + detail);
        }

        String passed() {
            return ByteBufUtil.hexDump(passed.toByteArray());
        }

        String written() {
            return ByteBufUtil.hexDump(written.toByteArray());
        }
    }
}
