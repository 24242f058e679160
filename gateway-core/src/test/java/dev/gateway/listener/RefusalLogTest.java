package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.gateway.overload.Resource;
import dev.gateway.stream.HandshakeFailure;
import io.netty.handler.ssl.NotSslRecordException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is logged of clients that could not be secured. */
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

    @Test
    void whatIsShortWhenConnectionsGiveWayIsSaidForEach() {
        Logger logger = (Logger) LoggerFactory.getLogger(RefusalLog.class);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        try {
            RefusalLog refusals = new RefusalLog(() -> 1);
            for (int i = 0; i < 3; i++) {
                refusals.onGivenWay("web", Resource.OPEN_FILES);
                refusals.onGivenWay("web", Resource.CLIENT_HEAP);
            }
        } finally {
            logger.detachAppender(appender);
        }
        assertThat(appender.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "listener web closes idle connections (1 so far), because clients have taken all file "
                                + "descriptors for them: raise the limit of open files",
                        "listener web closes idle connections (1 so far), because memory for clients is short");
    }
}
