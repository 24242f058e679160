package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.ParentProxies;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DialTargetTest {
    private static final ParentProxy PARENT = new ParentProxy(Kind.HTTP, "proxy.test", 3128, null, null);

    private static final ParentProxies PARENTS = new ParentProxies() {
        @Override
        public ParentProxy parentOf(String host, int port) {
            return PARENT;
        }

        @Override
        public List<ParentProxy> all() {
            return List.of(PARENT);
        }

        @Override
        public @Nullable AddressPolicy addresses() {
            return null;
        }
    };

    private static DialTarget to(String host, int port) {
        return DialTarget.to(new Endpoint(Endpoint.NAMED_INDEX, host, port, 1), StreamKind.EXCHANGE, PARENTS);
    }

    @Test
    void requestsForDifferentDestinationsShareNoConnectionToTheirParent() {
        DialTarget way = to("a.test", 80);
        assertThat(way.forwards()).isTrue();
        assertThat(way.host()).isEqualTo("proxy.test");
        assertThat(way.port()).isEqualTo(3128);
        assertThat(way)
                .isEqualTo(to("a.test", 80))
                .isNotEqualTo(to("b.test", 80))
                .isNotEqualTo(to("a.test", 81));
    }

    @Test
    void aConnectionToTheGatewayItselfIsKnown() {
        AddressPolicy here = new AddressPolicy() {
            @Override
            public @Nullable String refuse(String host, InetAddress address, int port) {
                return null;
            }

            @Override
            public boolean isOwn(InetAddress address, int port) {
                return address.isLoopbackAddress() && port == 8080;
            }
        };
        DialTarget target = DialTarget.straight(new Endpoint(0, "self.test", 8080, 1));
        assertThat(target.peer(connectedTo("127.0.0.1", 8080), here).own()).isTrue();
        assertThat(target.peer(connectedTo("127.0.0.1", 8081), here).own()).isFalse();
        assertThat(target.peer(connectedTo("127.0.0.1", 8080), null).own()).isFalse();
    }

    private static Channel connectedTo(String host, int port) {
        return new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(host, port);
            }
        };
    }
}
