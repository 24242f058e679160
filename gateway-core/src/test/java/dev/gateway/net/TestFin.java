package dev.gateway.net;

import io.netty.channel.Channel;

/** A peer's FIN, for channels without a transport. */
public final class TestFin {
    private TestFin() {}

    /** The FIN has come, behind what is read next. */
    public static void isAhead(Channel channel) {
        HalfClose.announceInputEnd(channel);
    }
}
