package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.net.ReadCredit;
import dev.gateway.stream.Cause;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.ParentProxies;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@SuppressWarnings("NullAway.Init") // fields that JUnit sets
class TunnelsTest extends PoolFixture {
    private static final int MANY = 8 << 20; // more than the kernel holds

    private ServerSocket server;

    @BeforeEach
    void listen() throws IOException {
        server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        open.add(server);
    }

    // Bytes both ways

    @Test
    void bytesPassBothWays() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            byte[] request = random(100_000);
            client.send(request, false);
            assertThat(peer.getInputStream().readNBytes(request.length)).isEqualTo(request);
            byte[] response = random(100_000);
            peer.getOutputStream().write(response);
            assertThat(client.read(response.length)).isEqualTo(response);
            assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 0, 0));
            end(client, peer);
        }
        awaitEvents("opened TCP", "closed");
    }

    @Test
    void anUpstreamMaySpeakFirst() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0);
        try (Socket peer = accept()) {
            peer.getOutputStream().write("220 ready".getBytes(StandardCharsets.US_ASCII));
            client.established();
            assertThat(client.read(9)).asString().isEqualTo("220 ready");
            end(client, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void theClientMayEndFirst() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        byte[] request = random(1000);
        byte[] response = random(MANY);
        try (Socket peer = accept()) {
            client.send(request, true);
            assertThat(peer.getInputStream().readAllBytes()).isEqualTo(request);
            peer.getOutputStream().write(response);
        }
        assertThat(client.read(response.length)).isEqualTo(response);
        client.expect("end");
        awaitEvents("closed");
    }

    @Test
    void theUpstreamMayEndFirst() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        byte[] response = random(1000);
        byte[] request = random(MANY);
        try (Socket peer = accept()) {
            peer.getOutputStream().write(response);
            peer.shutdownOutput();
            assertThat(client.read(response.length)).isEqualTo(response);
            client.expect("end");
            assertThat(counted().active()).isEqualTo(1);
            client.send(request, true);
            assertThat(peer.getInputStream().readAllBytes()).isEqualTo(request);
        }
        awaitEvents("closed");
    }

    @Test
    void bothMayEndWhileBytesAreUnderWay() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        byte[] request = random(MANY);
        byte[] response = random(100_000);
        try (Socket peer = accept()) {
            client.send(request, true);
            peer.getOutputStream().write(response);
            peer.shutdownOutput();
            assertThat(client.read(response.length)).isEqualTo(response);
            client.expect("end");
            assertThat(peer.getInputStream().readAllBytes()).isEqualTo(request);
        }
        awaitEvents("closed");
    }

    @Test
    void aResetOfTheUpstreamIsTold() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            peer.setSoLinger(true, 0);
        }
        client.expect("reset UPSTREAM_RESET_IN_BODY");
        awaitEvents("closed");
    }

    @Test
    void aResetAfterTheUpstreamsEndIsTold() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            peer.shutdownOutput();
            client.expect("end");
            counted(); // the loop has done what there was to do about the end
            peer.setSoLinger(true, 0);
        }
        client.expect("reset UPSTREAM_RESET_IN_BODY");
        awaitEvents("closed");
    }

    @Test
    void aResetReachesTheUpstreamAsOne() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            client.reset();
            assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketException.class);
        }
        assertThat(client.events).isEmpty();
        awaitEvents("closed");
    }

    @Test
    void aTunnelGivenUpBeforeItsHeadIsReset() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = TunnelClient.openInVain(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                upstream.endpoints().get(0));
        client.expect("opened");
        try (Socket peer = accept()) {
            assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketException.class);
        }
        awaitEvents("closed");
    }

    @Test
    void anUpstreamIsNotReadFasterThanItsBytesAreConsumed() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        client.stopConsuming();
        byte[] response = random(MANY);
        try (Socket peer = accept()) {
            Thread writer = new Thread(() -> {
                try (peer) {
                    peer.getOutputStream().write(response);
                } catch (IOException e) {
                    events.add(e.toString());
                }
            });
            writer.start();
            byte[] first = client.read(ReadCredit.HIGH / 2);
            assertThat(client.available()).isLessThan(MANY / 4); // one read may go far beyond the credit
            client.consume(MANY);
            byte[] rest = client.read(0);
            assertThat(rest).isEmpty();
            assertThat(first).isEqualTo(Arrays.copyOf(response, first.length));
            client.reset();
            writer.join();
        }
        while (!awaitAny().equals("closed")) {}
    }

    @Test
    void anUpstreamThatDoesNotReadMakesTheTunnelUnwritable() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        byte[] request = random(MANY);
        try (Socket peer = accept()) {
            client.send(request, false);
            assertThat(client.isWritable()).isFalse();
            assertThat(peer.getInputStream().readNBytes(request.length)).isEqualTo(request);
            client.expect("writable");
            assertThat(client.isWritable()).isTrue();
            end(client, peer);
        }
        awaitEvents("closed");
    }

    // Whose connection it is

    @Test
    void everyTunnelHasAConnectionOfItsOwn() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient first = tunnel(0).established();
        TunnelClient second = tunnel(0).established();
        try (Socket one = accept();
                Socket two = accept()) {
            end(first, one);
            end(second, two);
        }
        awaitEvents("closed", "closed");
        TunnelClient third = tunnel(0).established();
        try (Socket three = accept()) {
            end(third, three);
        }
        awaitEvents("closed");
    }

    @Test
    void theEndpointIsTheOneThatTheRequestNames() throws Exception {
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        dns.answers("origin.test", "127.0.0.1");
        TunnelClient client = TunnelClient.open(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                new Endpoint(Endpoint.NAMED_INDEX, "origin.test", server.getLocalPort(), 1));
        client.established();
        try (Socket peer = accept()) {
            end(client, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void theEndpointIsToldOfTheClientFirst() throws Exception {
        tellsOfClients(SendProxyProtocol.V1);
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            String line = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n";
            byte[] header = peer.getInputStream().readNBytes(line.length()); // before anything is sent
            assertThat(header).asString(StandardCharsets.US_ASCII).isEqualTo(line);
            client.send(new byte[] {1}, false);
            assertThat(peer.getInputStream().read()).isEqualTo(1);
            end(client, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void theEndpointIsToldOfTheClientBeforeTls() throws Exception {
        settings.tls = tls(false, "localhost", null);
        tellsOfClients(SendProxyProtocol.V2);
        TunnelClient client = tunnel(0);
        try (Socket peer = accept()) {
            byte[] first = peer.getInputStream().readNBytes(28 + 1);
            assertThat(first).startsWith(13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10, 0x21, 0x11);
            assertThat(first[28]).as("a TLS handshake record").isEqualTo((byte) 22);
        }
        client.expect("failed " + Cause.TLS_FAILED);
    }

    private void tellsOfClients(SendProxyProtocol header) throws Exception {
        List<Endpoint> endpoints = List.of(new Endpoint(0, "127.0.0.1", server.getLocalPort(), 1));
        DialSettings dialSettings = new DialSettings(null, ParentProxies.NONE, header);
        upstreamOf(endpoints, RoundRobin::new, dialSettings);
    }

    // Limits and failures

    @Test
    void aTunnelWaitsWhileThereMayBeNoMoreConnections() throws Exception {
        settings.maxConnections = 1;
        to("127.0.0.1", server.getLocalPort());
        TunnelClient first = tunnel(0).established();
        TunnelClient second = tunnel(1);
        TunnelClient third = tunnel(0);
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 0, 2));
        third.cancel();
        try (Socket peer = accept()) {
            end(first, peer);
        }
        second.established();
        try (Socket peer = accept()) {
            end(second, peer);
        }
        awaitEvents("closed", "closed");
        assertThat(third.events).isEmpty();
    }

    @Test
    void aTunnelIsRefusedWhenTooManyWait() throws Exception {
        settings.maxConnections = 1;
        settings.maxPendingRequests = 1;
        to("127.0.0.1", server.getLocalPort());
        TunnelClient first = tunnel(0).established();
        TunnelClient second = tunnel(0);
        tunnel(0).expect("failed PENDING_OVERFLOW");
        second.cancel();
        try (Socket peer = accept()) {
            end(first, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void aTunnelThatWaitsGoesToWhicheverEndpointHasRoomFirst() throws Exception {
        settings.maxConnections = 2;
        ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        open.add(other);
        Endpoint first = new Endpoint(0, "127.0.0.1", server.getLocalPort(), 1);
        Endpoint second = new Endpoint(1, "127.0.0.1", other.getLocalPort(), 1);
        List<Endpoint> endpoints = List.of(first, second);
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        TunnelClient toFirst = tunnelTo(first).established();
        TunnelClient toSecond = tunnelTo(second).established();
        TunnelClient waits = tunnelTo(first);
        assertThat(counted().pending()).isEqualTo(1);
        try (Socket peer = other.accept()) {
            end(toSecond, peer);
        }
        waits.established();
        try (Socket peer = other.accept()) {
            end(waits, peer);
        }
        try (Socket peer = accept()) {
            end(toFirst, peer);
        }
        awaitEvents("closed", "closed", "closed");
    }

    @Test
    void aTunnelThatWaitsDoesNotGoToAnEndpointThatHasJustLeftService() throws Exception {
        settings.maxConnections = 2;
        ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        open.add(other);
        Endpoint first = new Endpoint(0, "127.0.0.1", server.getLocalPort(), 1);
        Endpoint second = new Endpoint(1, "127.0.0.1", other.getLocalPort(), 1);
        List<Endpoint> endpoints = List.of(first, second);
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
        TunnelClient toFirst = tunnelTo(first).established();
        TunnelClient toSecond = TunnelClient.open(
                        pools.opener(1), transport.loops().get(1), upstream, second)
                .established();
        TunnelClient waits = tunnelTo(first);
        assertThat(counted().pending()).isEqualTo(1);
        CompletableFuture<Void> outOfService = new CompletableFuture<>();
        transport.loops().get(0).execute(outOfService::join);
        try (Socket peer = other.accept()) {
            end(toSecond, peer);
        }
        awaitEvent("closed"); // so the permit is on its way to the other event loop
        upstream.health().drain(second.toString(), true);
        outOfService.complete(null);
        waits.established();
        for (TunnelClient each : List.of(toFirst, waits)) {
            try (Socket peer = accept()) {
                end(each, peer);
            }
        }
        awaitEvents("closed", "closed");
    }

    @Test
    void clientsTakeTurnsWhileTunnelsWait() throws Exception {
        settings.maxConnections = 1;
        Endpoint only = new Endpoint(0, "127.0.0.1", server.getLocalPort(), 1);
        upstreamOf(List.of(only), RoundRobin::new, DialSettings.DIRECT);
        List<TunnelClient> inTurn = new ArrayList<>();
        for (String client : List.of("many", "many", "many", "few")) {
            inTurn.add(TunnelClient.open(pools.opener(0), transport.loops().get(0), upstream, only, client));
            counted(); // by now it waits, or is being made
        }
        inTurn.add(2, inTurn.remove(3)); // the second of the first client has waited for longest
        for (TunnelClient next : inTurn) {
            next.established();
            try (Socket peer = accept()) {
                end(next, peer);
            }
            awaitEvents("closed");
        }
    }

    private TunnelClient tunnelTo(Endpoint endpoint) {
        return TunnelClient.open(pools.opener(0), transport.loops().get(0), upstream, endpoint);
    }

    @Test
    void aTunnelDoesNotWaitForEver() throws Exception {
        settings.maxConnections = 1;
        settings.poolAcquireMillis = 60_000;
        to("127.0.0.1", server.getLocalPort());
        TunnelClient first = tunnel(0).established();
        TunnelClient second = tunnel(0);
        counted();
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
        second.expect("failed PENDING_TIMEOUT");
        try (Socket peer = accept()) {
            end(first, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void tunnelsCountAsRequestsInFlight() throws Exception {
        settings.maxRequests = 1;
        to("127.0.0.1", server.getLocalPort());
        TunnelClient first = tunnel(0).established();
        tunnel(0).expect("failed PENDING_OVERFLOW");
        try (Socket peer = accept()) {
            end(first, peer);
        }
        awaitEvents("closed");
        TunnelClient second = tunnel(0).established();
        try (Socket peer = accept()) {
            end(second, peer);
        }
        awaitEvents("closed");
    }

    @Test
    void anIdleConnectionMakesRoomForATunnel() throws Exception {
        settings.maxConnections = 1;
        FakeUpstream origin = http1();
        to(origin);
        get("/").connection();
        TunnelClient client = tunnel(0).established();
        awaitEvents("closed");
        client.reset();
        awaitEvents("closed");
    }

    @Test
    void aTunnelGivenUpWhileItsConnectionIsMadeLeavesNothing() throws Exception {
        settings.maxConnections = 1;
        dns.answers("origin.test", "127.0.0.1");
        dns.withhold(FakeDns.TYPE_A);
        to("origin.test", server.getLocalPort());
        TunnelClient client = tunnel(0);
        assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 1, 0));
        client.cancel();
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        dns.release();
        TunnelClient next = tunnel(0);
        next.established();
        try (Socket peer = accept()) {
            end(next, peer);
        }
        awaitEvents("closed");
        assertThat(client.events).isEmpty();
    }

    @Test
    void anUpstreamThatRefusesIsTold() throws Exception {
        server.close();
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0);
        client.expect("failed CONNECT_FAILED");
        assertFailure(client.failure(), Cause.CONNECT_FAILED);
        assertThat(client.failure().detail())
                .contains("127.0.0.1:" + server.getLocalPort())
                .contains("refused");
    }

    @Test
    void anAddressThatPolicyRefusesIsNotDialed() throws Exception {
        AddressPolicy policy = (host, address, port) -> host + " is private";
        DialSettings dialSettings =
                new DialSettings(policy, DialSettings.DIRECT.parents(), DialSettings.DIRECT.proxyHeader());
        upstreamOf(List.of(), NamedByRequest.POLICY, dialSettings);
        TunnelClient client = TunnelClient.open(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                new Endpoint(Endpoint.NAMED_INDEX, "127.0.0.1", server.getLocalPort(), 1));
        client.expect("failed POLICY_ADDRESS");
        assertThat(client.failure().status()).isEqualTo(403);
        assertThat(client.failure().retry()).isEqualTo(RetrySafety.NEVER);
        assertThat(client.failure().detail()).contains("127.0.0.1 is private");
    }

    @Test
    void aRemovedUpstreamEndsItsTunnels() throws Exception {
        settings.maxConnections = 2;
        to("127.0.0.1", server.getLocalPort());
        TunnelClient established = tunnel(0).established();
        TunnelClient another = tunnel(0);
        TunnelClient queued = tunnel(0);
        try (Socket peer = accept();
                Socket other = accept()) {
            another.established();
            assertThat(counted()).isEqualTo(new PoolCounts(0, 2, 0, 1));
            pools.remove(upstream);
            established.expect("reset DRAIN");
            another.expect("reset DRAIN");
            queued.expect("failed DRAIN");
            assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> other.getInputStream().read()).isInstanceOf(SocketException.class);
        }
        awaitEvents("closed", "closed");
    }

    @Test
    void tunnelsToEndpointsThatAreGoneEnd() throws Exception {
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0).established();
        try (Socket peer = accept()) {
            pools.keepOnly(upstream, upstream.endpoints());
            counted();
            client.send(new byte[] {1}, false);
            assertThat(peer.getInputStream().read()).isEqualTo(1);
            pools.keepOnly(upstream, List.of(new Endpoint(0, "127.0.0.2", server.getLocalPort(), 1)));
            client.expect("reset DRAIN");
        }
        awaitEvents("closed");
    }

    // TLS

    @Test
    void bytesPassBothWaysOverTls() throws Exception {
        SSLServerSocket secure = secureServer();
        TunnelClient client = tunnel(0);
        try (SSLSocket peer = (SSLSocket) secure.accept()) {
            peer.startHandshake();
            client.established();
            assertThat(peer.getApplicationProtocol()).as("ALPN").isEmpty();
            byte[] request = random(MANY);
            client.send(request, false);
            assertThat(peer.getInputStream().readNBytes(request.length)).isEqualTo(request);
            byte[] response = random(MANY);
            peer.getOutputStream().write(response);
            assertThat(client.read(response.length)).isEqualTo(response);
            client.reset();
        }
        while (!awaitAny().equals("closed")) {}
    }

    @Test
    void theClientMayEndFirstOverTls() throws Exception {
        SSLServerSocket secure = secureServer();
        TunnelClient client = tunnel(0);
        byte[] request = random(100_000);
        byte[] response = random(MANY);
        try (SSLSocket peer = (SSLSocket) secure.accept()) {
            peer.startHandshake();
            client.established();
            client.send(request, true);
            assertThat(peer.getInputStream().readAllBytes()).isEqualTo(request);
            peer.getOutputStream().write(response);
        }
        assertThat(client.read(response.length)).isEqualTo(response);
        client.expect("end");
        awaitEvents("closed");
    }

    @Test
    void theUpstreamMayEndFirstOverTls() throws Exception {
        SSLServerSocket secure = secureServer();
        TunnelClient client = tunnel(0);
        byte[] response = random(MANY);
        try (SSLSocket peer = (SSLSocket) secure.accept()) {
            peer.startHandshake();
            client.established();
            peer.getOutputStream().write(response);
            peer.shutdownOutput();
            assertThat(client.read(response.length)).isEqualTo(response);
            client.expect("end");
            client.send(new byte[0], true);
            InputStream in = new DataInputStream(peer.getInputStream());
            assertThat(in.read()).isEqualTo(-1);
        }
        awaitEvents("closed");
    }

    @Test
    void anUpstreamThatEndsInsteadOfAHandshakeIsNotWaitedFor() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to("127.0.0.1", server.getLocalPort());
        TunnelClient client = tunnel(0);
        try (Socket peer = accept()) {
            peer.shutdownOutput();
            client.expect("failed " + Cause.TLS_FAILED);
            InputStream in = peer.getInputStream();
            while (in.read() >= 0) {} // what there is of a ClientHello
        }
    }

    @Test
    void aResetReachesTheUpstreamAsOneOverTls() throws Exception {
        SSLServerSocket secure = secureServer();
        TunnelClient client = tunnel(0);
        try (SSLSocket peer = (SSLSocket) secure.accept()) {
            peer.startHandshake();
            client.established();
            client.reset();
            assertThatThrownBy(() -> peer.getInputStream().read()).hasMessageContaining("reset");
        }
        awaitEvents("closed");
    }

    private SSLServerSocket secureServer() throws Exception {
        CertificateRef files = certificate("localhost");
        settings.tls = tls(true, "localhost", null);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        java.security.cert.Certificate[] chain;
        try (InputStream in = Files.newInputStream(files.certFile())) {
            chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(new java.security.cert.Certificate[0]);
        }
        store.setKeyEntry("key", privateKey(files), new char[0], chain);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        SSLServerSocket secure = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 16, InetAddress.getLoopbackAddress());
        open.add(secure);
        to("127.0.0.1", secure.getLocalPort());
        return secure;
    }

    private static java.security.PrivateKey privateKey(CertificateRef files) throws Exception {
        String pem = Files.readString(files.keyFile())
                .replaceAll("-----[A-Z ]+-----", "")
                .replaceAll("\\s", "");
        return java.security.KeyFactory.getInstance("EC")
                .generatePrivate(new java.security.spec.PKCS8EncodedKeySpec(
                        java.util.Base64.getDecoder().decode(pem)));
    }

    // Endpoints to which a connection takes long

    @Test
    void aTunnelThatIsSlowToConnectGoesToAnotherEndpoint() throws Exception {
        settings.connectMillis = 40_000;
        upstreamOf(
                List.of(
                        new Endpoint(0, "127.0.0.1", blackHole(), 1),
                        new Endpoint(1, "127.0.0.1", server.getLocalPort(), 1)),
                RoundRobin::new,
                DialSettings.DIRECT);
        Endpoint slow = upstream.endpoints().get(0);
        TunnelClient client = tunnel(0);
        assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 1, 0));
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        client.established();
        assertThat(client.movedTo).isEqualTo(upstream.endpoints().get(1));
        assertThat(counted()).as("the slow connection is given up").isEqualTo(new PoolCounts(0, 1, 0, 0));
        assertThat(upstream.host(slow).isUnreached()).isTrue();
        assertThat(upstream.host(slow).requests().taken()).isZero();
        assertThat(upstream.host(slow).connections().taken()).isZero();
        try (Socket peer = accept()) {
            end(client, peer);
        }
        awaitEvents("opened TCP", "closed");
        assertThat(upstream.requests().taken()).isZero();
        assertThat(upstream.connections().taken()).isZero();
    }

    @Test
    void aTunnelThatIsSlowToConnectStaysIfNoOtherEndpointIsLeft() throws Exception {
        settings.connectMillis = 40_000;
        settings.maxConnections = 2;
        upstreamOf(
                List.of(
                        new Endpoint(0, "127.0.0.1", blackHole(), 1),
                        new Endpoint(1, "127.0.0.1", server.getLocalPort(), 1)),
                RoundRobin::new,
                DialSettings.DIRECT);
        TunnelClient holds = TunnelClient.open(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                upstream.endpoints().get(1));
        holds.established();
        TunnelClient client = tunnel(0);
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 1, 0));
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 1, 0));
        try (Socket peer = accept()) {
            end(holds, peer);
        }
        awaitEvents("closed");
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(10));
        client.established(); // the other endpoint has room now
        try (Socket peer = accept()) {
            end(client, peer);
        }
    }

    // Fixture

    private TunnelClient tunnel(int loop) {
        return TunnelClient.open(
                pools.opener(loop),
                transport.loops().get(loop),
                upstream,
                upstream.endpoints().get(0));
    }

    private Socket accept() throws IOException {
        server.setSoTimeout(20_000);
        Socket socket = server.accept();
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** Ends both directions. */
    private static void end(TunnelClient client, Socket peer) throws Exception {
        client.send(new byte[0], true);
        assertThat(peer.getInputStream().read()).isEqualTo(-1);
        peer.close();
        client.expect("end");
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
