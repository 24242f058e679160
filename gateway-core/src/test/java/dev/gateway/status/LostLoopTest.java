package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway one of whose event loops has ended does not look as if it went on. */
@Timeout(60)
class LostLoopTest {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            admin: {enabled: false}
            workers: 2
            """;

    @Test
    void whoWaitsForItsEndLearnsThatItIsBroken(@TempDir Path directory) throws Exception {
        StatusRig rig = StatusRig.start(YAML, directory); // cannot be closed without the loop
        try {
            rig.dataPlane.transport().loops().get(1).shutdownGracefully(0, 0, TimeUnit.SECONDS);
            assertThatThrownBy(rig::awaitStopped)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("an event loop has ended");
        } finally {
            rig.dataPlane.transport().stop().await();
        }
    }
}
