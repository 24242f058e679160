package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.Documents;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Every link in a document of the repository leads to a file and a heading that exist. */
class DocumentLinksTest {
    private static final Path TOP = Path.of("..");

    @Test
    void noLinkIsBroken() throws IOException {
        int links = 0;
        for (Path document : Documents.all()) {
            for (String link : DocumentLinks.of(document)) {
                links++;
                assertThat(DocumentLinks.problem(document, link))
                        .as("%s in %s", link, TOP.relativize(document))
                        .isEmpty();
            }
        }
        assertThat(links).isGreaterThan(30);
    }
}
