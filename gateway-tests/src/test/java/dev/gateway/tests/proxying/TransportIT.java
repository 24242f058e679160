package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** However bytes move between process and kernel, the same is served; what a machine lacks is fallen back from. */
@Tag("platform")
class TransportIT {
    private static final String BODY = "0123456789abcdef".repeat(64 << 10);

    @ParameterizedTest
    @CsvSource({
        "nio, HTTP1, H1_TO_H1",
        "nio, H2_TLS, H2_TO_H2",
        "epoll, HTTP1_TLS, H1_TO_H2",
        "epoll, H2C, H2_TO_H1",
        "io_uring, HTTP1, H1_TO_H1",
        "io_uring, H2_TLS, H2_TO_H2",
    })
    void bodiesPassBothWays(String transport, Peers client, Pairing pairing) throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger("dev.gateway.net.transport.Transport");
        Level level = logger.getLevel();
        logger.setLevel(Level.INFO);
        lines.start();
        logger.addAppender(lines);
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = Rig.to(origin, pairing).top("transport: " + transport).start();
                Peer peer = rig.connect(client)) {
            boolean available =
                    switch (transport) {
                        case "io_uring" -> IoUring.isAvailable();
                        case "epoll" -> Epoll.isAvailable();
                        default -> true;
                    };
            assertThat(lines.list)
                    .as("what runs, where %s is %s", transport, available ? "available" : "not available")
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line ->
                            line.toLowerCase(Locale.ROOT).startsWith("transport " + transport + ",") == available
                                    && line.startsWith("Transport "));
            for (int i = 0; i < 3; i++) {
                PeerStream stream = peer.open();
                stream.send(Head.request("POST", "/"), false);
                Thread sender = new Thread(() -> {
                    try {
                        stream.send(BODY, true);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                sender.start();
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo(BODY);
                sender.join();
            }
        } finally {
            logger.detachAppender(lines);
            logger.setLevel(level);
        }
    }
}
