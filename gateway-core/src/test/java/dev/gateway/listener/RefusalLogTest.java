package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.Resource;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.LoggedLines;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.InetSocketAddress;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

/** What is logged of clients that could not be secured, or that get no connection. */
class RefusalLogTest {
    @Test
    void whatAClientSentInCleartextIsNotLogged() {
        NotSslRecordException failure = new NotSslRecordException("not an SSL/TLS record: 417574686f72697a6174696f6e");
        assertThat(RefusalLog.describe(HandshakeFailure.CLEARTEXT, failure)).isEqualTo("NotSslRecordException");
    }

    @Test
    void otherFailuresAreTold() {
        SSLException failure = new SSLException("no cipher");
        assertThat(RefusalLog.describe(HandshakeFailure.OTHER, failure)).contains("no cipher");
    }

    @Test
    void theLastCauseIsTold() {
        SSLException failure =
                new SSLException("General OpenSslEngine problem", new CertificateException("expired yesterday"));
        assertThat(RefusalLog.describe(HandshakeFailure.CLIENT_CERTIFICATE, failure))
                .isEqualTo("expired yesterday");
    }

    /** Returns what is logged if each is told three times. */
    private static List<String> logged(Consumer<RefusalLog> told) {
        try (LoggedLines log = LoggedLines.of(RefusalLog.class)) {
            RefusalLog refusals = new RefusalLog(() -> 1);
            for (int i = 0; i < 3; i++) {
                told.accept(refusals);
            }
            return log.messages();
        }
    }

    @Test
    void whatIsShortWhenConnectionsGiveWayIsSaidForEach() {
        List<String> lines = logged(refusals -> {
            refusals.onGivenWay("web", Resource.OPEN_FILES);
            refusals.onGivenWay("web", Resource.CONNECTIONS);
            refusals.onGivenWay("web", Resource.CLIENT_HEAP);
        });
        assertThat(lines)
                .containsExactly(
                        "listener web closes idle connections (1 so far), because clients have taken all file "
                                + "descriptors for them: raise the limit of open files",
                        "listener web closes idle connections (1 so far), because a client has more than its share of "
                                + "limits.maxConnections, and others find no room",
                        "listener web closes idle connections (1 so far), because memory for clients is short");
    }

    /** It may be a balancer in front, which needs another key. */
    @Test
    void whoHoldsTooMuchIsNamedWithTheKeysThatHelpAProxy() {
        SourceAddress client = SourceAddress.of(new InetSocketAddress("192.0.2.7", 5555));
        List<String> lines = logged(refusals -> {
            refusals.onShareUsedUp("web", client);
            refusals.onMoreThanShare("web", client);
        });
        assertThat(lines)
                .containsExactly(
                        "listener web refuses connections (1 so far), such as of 192.0.2.7:5555, which holds all the "
                                + "memory that one client may hold. If it is a proxy, set proxyProtocol or trustedProxies",
                        "listener web refuses connections (1 so far), such as of 192.0.2.7:5555, which has its share of "
                                + "limits.maxConnections while others find no room. If it is a proxy, set "
                                + "proxyProtocol or trustedProxies");
    }
}
