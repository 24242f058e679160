package dev.gateway.config.listener;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How many clients a listener takes if nothing is said. */
class OpenFilesTest {
    @Test
    void clientsHaveHalfOfTheFiles() {
        assertThat(OpenFiles.forClients(1024)).isEqualTo(512);
    }

    @Test
    void manyFilesAreNotForManyMoreClients() {
        assertThat(OpenFiles.forClients(1 << 30)).isEqualTo(50_000);
    }

    @Test
    void withoutAKnownLimitItIsTheMost() {
        assertThat(OpenFiles.forClients(0)).isEqualTo(50_000);
    }

    @Test
    void oneIsTheLeast() {
        assertThat(OpenFiles.forClients(1)).isEqualTo(1);
    }
}
