package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.listener.limit.FairShares;
import dev.gateway.net.ByteCounter;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.overload.memory.Account;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.RequestHandler;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FairSharesTest {
    private static final int MAX = 8;
    private static final int MAX_PER_ADDRESS = 4;

    private final EmbeddedChannel first = new EmbeddedChannel();
    private final ListenerSettings settings = settings(MAX);
    private final FairShares shares = new FairShares("admin", MAX, MAX_PER_ADDRESS);
    private final LoopConnections owner = new LoopConnections(
            new ListenerLoop(first.eventLoop(), new TimerWheel(first.eventLoop()), nobody(), ConnectionObserver.NONE),
            settings,
            shares,
            new RefusalLog(System::nanoTime));
    private final List<EmbeddedChannel> channels = new ArrayList<>(List.of(first));

    private static ListenerSettings settings(int maxConnections) {
        return new ListenerSettings(
                0,
                "admin",
                new InetSocketAddress(0),
                ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(maxConnections, MAX_PER_ADDRESS),
                null,
                null,
                new ListenerSettings.Protocols(
                        new Http1ServerSettings(HeadLimits.DEFAULT, ConnectionTimeouts.NONE, false), null, false));
    }

    private static RequestHandler nobody() {
        return (RequestHandler) Proxy.newProxyInstance(
                RequestHandler.class.getClassLoader(), new Class<?>[] {RequestHandler.class}, (self, method, args) -> {
                    throw new AssertionError(method.getName());
                });
    }

    private final class Client {
        final EmbeddedChannel channel;
        final Connection connection;
        final boolean admitted;

        Client(String ip) {
            channel = new EmbeddedChannel() {
                @Override
                protected SocketAddress remoteAddress0() {
                    return new InetSocketAddress(ip, 4711);
                }
            };
            channels.add(channel);
            connection = new Connection(
                    channel,
                    owner,
                    owner.settingsRef(),
                    new ByteCounter(ConnectionObserver.NONE, owner.loop().timers()),
                    Account.UNLIMITED);
            admitted = owner.add(connection);
            if (admitted) {
                channel.closeFuture().addListener(closed -> owner.remove(connection));
            }
        }

        Client ask() {
            owner.onRequest(connection);
            return this;
        }

        boolean isOpen() {
            channels.forEach(EmbeddedChannel::runPendingTasks);
            return admitted && channel.isOpen();
        }
    }

    private List<Client> clients(int count, String ip) {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(new Client(ip));
        }
        return clients;
    }

    @AfterEach
    void nothingIsCountedForWhatHasGone() {
        channels.forEach(channel -> {
            channel.close();
            channel.runPendingTasks();
        });
        assertThat(shares.open()).isZero();
    }

    @Test
    void beyondItsShareAnAddressClosesItsOldestThatHasAskedForNothing() {
        List<Client> silent = clients(MAX_PER_ADDRESS, "192.0.2.1");
        silent.get(0).ask();
        Client next = new Client("192.0.2.1");
        assertThat(next.isOpen()).isTrue();
        assertThat(silent).extracting(Client::isOpen).containsExactly(true, false, true, true);
        assertThat(shares.open()).isEqualTo(MAX_PER_ADDRESS);
    }

    @Test
    void beyondItsShareAnAddressGetsNoMoreIfAllHaveAskedForSomething() {
        List<Client> asked = clients(MAX_PER_ADDRESS, "192.0.2.1");
        asked.forEach(Client::ask);
        assertThat(new Client("192.0.2.1").isOpen()).isFalse();
        assertThat(asked).allMatch(Client::isOpen);
        assertThat(new Client("192.0.2.2").isOpen()).isTrue();
    }

    @Test
    void anAddressThatHoldsNoneGetsARoomOfTheOneThatHoldsMost() {
        List<Client> greedy = clients(MAX_PER_ADDRESS, "192.0.2.1");
        greedy.forEach(Client::ask);
        List<Client> others = clients(3, "192.0.2.2");
        others.forEach(Client::ask);
        Client last = new Client("192.0.2.3").ask();
        Client probe = new Client("192.0.2.4").ask();
        assertThat(probe.isOpen()).isTrue();
        assertThat(last.isOpen()).isTrue();
        assertThat(others).allMatch(Client::isOpen);
        assertThat(greedy).extracting(Client::isOpen).containsExactly(false, true, true, true);
    }

    @Test
    void whoHoldsAsManyGetsNoneOfAnother() {
        List<Client> one = clients(4, "192.0.2.1");
        List<Client> two = clients(4, "192.0.2.2");
        one.forEach(Client::ask);
        two.forEach(Client::ask);
        for (int i = 3; i <= 4; i++) {
            assertThat(new Client("192.0.2." + i).ask().isOpen()).isTrue();
        }
        assertThat(new Client("192.0.2.1").isOpen()).isFalse();
    }

    @Test
    void whoMakesRoomByItsOnlyConnectionIsStillCounted() {
        shares.change(1, MAX_PER_ADDRESS);
        Client one = new Client("192.0.2.1");
        Client two = new Client("192.0.2.1");
        assertThat(one.isOpen()).isFalse();
        assertThat(two.isOpen()).isTrue();
        two.channel.close();
        assertThat(shares.open()).isZero();
        assertThat(new Client("192.0.2.2").isOpen()).isTrue();
    }

    @Test
    void aNetworkOfIpv6IsOneAddress() {
        clients(MAX_PER_ADDRESS, "2001:db8::1").forEach(Client::ask);
        assertThat(new Client("2001:db8::ffff").isOpen()).isFalse();
        assertThat(new Client("2001:db8:0:1::1").isOpen()).isTrue();
    }

    @Test
    void connectionsThatDoNotCloseInTimeAreNotReplacedForEver() {
        int admitted = 0;
        for (int i = 0; i < 100; i++) {
            admitted += new Client("192.0.2.1").admitted ? 1 : 0;
        }
        assertThat(admitted).isEqualTo(2 * MAX_PER_ADDRESS);
        assertThat(new Client("192.0.2.2").ask().isOpen()).isTrue();
    }

    @Test
    void whoConnectsAgainBeforeItsConnectionsCloseKeepsNoNewAddressOut() {
        for (int i = 0; i < 100; i++) {
            clients(1, "192.0.2." + (1 + i % 4));
        }
        Client probe = new Client("192.0.2.5");
        assertThat(probe.admitted).isTrue();
        assertThat(new Client("192.0.2.1").admitted).isFalse();
        assertThat(probe.ask().isOpen()).isTrue();
    }

    @Test
    void addressesThatHoldNothingAreBoundedToo() {
        for (int i = 1; i <= 100; i++) {
            clients(1, "192.0.2." + i);
        }
        assertThat(shares.open()).isEqualTo(2 * MAX);
    }
}
