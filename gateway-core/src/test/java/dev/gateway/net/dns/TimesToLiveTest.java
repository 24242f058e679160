package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCnameCache;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** For how long answers hold. */
class TimesToLiveTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final EventLoop loop = channel.eventLoop();
    private final TimesToLive times = new TimesToLive();
    private final DnsCnameCache aliases = times.aliases();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private long holds(String name, int... seconds) throws UnknownHostException {
        InetAddress[] addresses = new InetAddress[seconds.length];
        for (int i = 0; i < seconds.length; i++) {
            addresses[i] = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) (1 + i)});
            times.cache(name, new DnsRecord[0], addresses[i], seconds[i], loop);
        }
        return times.take(List.of(addresses));
    }

    @Test
    void theShortestTimeOfAllAddressesCounts() throws Exception {
        assertThat(holds("app.test", 300, 20, 60)).isEqualTo(20);
        assertThat(times.take(List.of(InetAddress.getLoopbackAddress()))).isEqualTo(-1);
    }

    /** Such as of a database whose name leads to another node after a failure. */
    @Test
    void anAddressHoldsNoLongerThanTheAliasesThatLeadToIt() throws Exception {
        aliases.cache("db.test.", "node.test.", 5, loop);
        aliases.cache("node.test.", "a.node.test.", 60, loop);
        assertThat(holds("DB.test", 3600)).isEqualTo(5);
        assertThat(holds("node.test.", 3600)).isEqualTo(60);
        assertThat(holds("a.node.test", 3600)).isEqualTo(3600);
        assertThat(aliases.get("db.test.")).as("Netty asks again").isNull();
        assertThat(holds("db.test", 3600)).as("it is no alias any more").isEqualTo(3600);
    }

    @Test
    void aliasesInACircleAndManyOfThemAreNoHarm() throws Exception {
        aliases.cache("a.test.", "b.test.", 50, loop);
        aliases.cache("b.test.", "a.test.", 40, loop);
        assertThat(holds("a.test", 3600)).isEqualTo(40);
        for (int i = 0; i < 100_000; i++) {
            aliases.cache(i + ".test.", "c.test.", 30, loop);
        }
        assertThat(holds("0.test", 3600)).as("forgotten for others").isEqualTo(3600);
        assertThat(holds("99999.test", 3600)).isEqualTo(30);
        aliases.clear();
        assertThat(holds("99999.test", 3600)).isEqualTo(3600);
    }
}
