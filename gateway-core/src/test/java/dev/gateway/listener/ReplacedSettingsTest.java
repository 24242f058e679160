package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.net.tls.ServerTls;
import java.io.IOException;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listeners that change while they serve. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ReplacedSettingsTest {
    @TempDir
    Path directory;

    private final ListenerRig rig = new ListenerRig();

    @AfterEach
    void stop() throws Exception {
        rig.stop();
    }

    @Test
    void aConnectionWaitsUntilConnectionsAreAccepted() throws Exception {
        Listener listener = rig.bind();
        try (Socket early = ListenerRig.connect(listener)) {
            Clients.send(early, Clients.get("/"));
            assertThat(listener.connections()).isZero();
            listener.accept();
            assertThat(Clients.response(early.getInputStream())).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void anotherLimitAppliesAtOnceAndClosesNothing() throws Exception {
        rig.maxConnections = 2;
        Listener listener = rig.listen();
        try (Socket first = ListenerRig.connect(listener);
                Socket second = ListenerRig.connect(listener)) {
            Clients.exchange(first, "/");
            Clients.exchange(second, "/");
            rig.maxConnections = 1;
            listener.replace(rig.settings());
            assertThat(Clients.exchange(first, "/")).startsWith("HTTP/1.1 200 ");
            try (Socket third = ListenerRig.connect(listener)) {
                assertThat(Clients.rest(third)).isEmpty();
            }
            rig.maxConnections = 3;
            listener.replace(rig.settings());
            try (Socket third = ListenerRig.connect(listener)) {
                assertThat(Clients.exchange(third, "/")).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void otherTimeoutsApplyToNewConnectionsOnly() throws Exception {
        Listener listener = rig.listen();
        try (Socket before = ListenerRig.connect(listener)) {
            Clients.exchange(before, "/");
            rig.idleMillis = 50;
            listener.replace(rig.settings());
            try (Socket after = ListenerRig.connect(listener)) {
                assertThat(Clients.rest(after)).isEmpty(); // longer idle than its limit, as by now is the other one
            }
            assertThat(Clients.exchange(before, "/")).startsWith("HTTP/1.1 200 ");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anotherCertificateIsShownToNewConnectionsWhileOldOnesLive(int certificates) throws Exception {
        Path oldOne = Files.createDirectory(directory.resolve("old"));
        Path newOne = Files.createDirectory(directory.resolve("new"));
        ServerTls before = Clients.serverTls(oldOne, certificates);
        rig.tls = before;
        Listener listener = rig.listen();
        try (SSLSocket kept = Clients.tls(ListenerRig.connect(listener), oldOne, "http/1.1");
                Socket silent = ListenerRig.connect(listener);
                SSLSocket inHandshake = Clients.tls(silent, oldOne, "http/1.1")) {
            Clients.exchange(kept, "/");
            ListenerRig.awaitConnections(listener, 2);

            rig.tls = Clients.serverTls(newOne, certificates);
            listener.replace(rig.settings());
            before.close(); // whoever made it has no further use for it

            assertThat(Clients.exchange(kept, "/")).startsWith("HTTP/1.1 200 ");
            assertThat(Clients.exchange(inHandshake, "/")).contains("tls=true"); // as when it was accepted
            try (SSLSocket fresh = Clients.tls(ListenerRig.connect(listener), newOne, "http/1.1")) {
                assertThat(Clients.exchange(fresh, "/")).contains("tls=true");
            }
            try (SSLSocket fresh = Clients.tls(ListenerRig.connect(listener), oldOne, "http/1.1")) {
                assertThatThrownBy(fresh::startHandshake).isInstanceOf(SSLHandshakeException.class);
            }
        }
    }

    @Test
    void aPortMayGoOverFromCleartextToTls() throws Exception {
        Listener listener = rig.listen();
        try (Socket before = ListenerRig.connect(listener)) {
            Clients.exchange(before, "/");
            rig.tls = Clients.serverTls(directory, 1);
            listener.replace(rig.settings());
            assertThat(Clients.exchange(before, "/")).contains("tls=false");
            try (SSLSocket after = Clients.tls(ListenerRig.connect(listener), directory, "http/1.1")) {
                assertThat(Clients.exchange(after, "/")).contains("tls=true");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anotherListenerTakesTheAddressOverAndTheConnectionsStay(boolean reusePort) throws Exception {
        rig.reusePort = reusePort;
        Listener former = rig.listen();
        try (Socket busy = ListenerRig.connect(former)) {
            Clients.send(busy, Clients.get("/held"));
            ListenerRig.Call call = rig.heldCall();
            rig.name = "heir";
            Listener heir = rig.stopLater(former.succeededBy(rig.loops(), rig.settings()));
            assertThat(heir.address()).isEqualTo(former.address());
            CompletableFuture<Void> drained = former.drain();
            try (Socket next = ListenerRig.connect(heir)) {
                assertThat(Clients.exchange(next, "/")).startsWith("HTTP/1.1 200 ");
                assertThat(heir.connections()).isEqualTo(1);
                assertThat(former.connections()).isEqualTo(1);
            }
            assertThat(drained).isNotDone();
            call.answer();
            assertThat(Clients.rest(busy)).startsWith("HTTP/1.1 200 ").contains("Connection: close");
            assertThat(drained).succeedsWithin(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(call.stream().connection().listenerName()).isEqualTo("web");
        }
    }

    @Test
    void aSocketFileThatWasTakenOverIsNotRemovedByItsFormerListener() throws Exception {
        Path file = directory.resolve("web.sock");
        rig.bound = UnixDomainSocketAddress.of(file);
        Listener former = rig.listen();
        rig.name = "heir";
        Listener heir = rig.stopLater(former.succeededBy(rig.loops(), rig.settings()));
        former.drain().get(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(file).exists();
        heir.drain().get(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(file).doesNotExist();
    }

    @Test
    void whatCouldNotBeBoundKeepsNoCertificates() throws Exception {
        Listener listener = rig.listen();
        ListenerRig other = new ListenerRig();
        other.bound = (java.net.InetSocketAddress) listener.address();
        other.tls = Clients.serverTls(directory, 1);
        try {
            assertThatThrownBy(other::bind).isInstanceOf(IOException.class).hasMessageContaining("web");
        } finally {
            other.stop(); // frees what the test has made; the leak detector tells if anything else holds it
        }
    }
}
