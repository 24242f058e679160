package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.demo.DemoUpstream;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.Rig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A browser loads the page of tiles, over HTTP/1.1 and over h2; its pictures are left in {@code target}. */
class TilesIT {
    private static final int TILES = 180;

    private static DemoUpstream demo;
    private static Rig rig;
    private static Browser browser;

    @BeforeAll
    static void start() throws Exception {
        browser = Browser.start();
        demo = DemoUpstream.start(0);
        rig = Rig.to(demo.port()).start();
    }

    @AfterAll
    static void stop() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (rig != null) {
            rig.close();
        }
        if (demo != null) {
            demo.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyTileLoads(boolean h2) throws Exception {
        String url = h2 ? "https://localhost:" + rig.tlsPort() : "http://localhost:" + rig.port();
        browser.open(url + "/tiles?latency=50");
        // WebDriver returns when the page and its images have loaded.
        assertThat(browser.evaluate("return [...document.images].filter(i => i.complete && i.naturalWidth > 0).length"))
                .isEqualTo(Integer.toString(TILES));
        assertThat(browser.evaluate("return performance.getEntriesByType('resource')"
                        + ".filter(e => e.name.includes('/tiles/') && e.nextHopProtocol === '"
                        + (h2 ? "h2" : "http/1.1") + "').length"))
                .isEqualTo(Integer.toString(TILES));
        Path picture = Path.of("target", "tiles-" + (h2 ? "h2" : "http1") + ".png");
        Files.createDirectories(picture.getParent());
        Files.write(picture, Base64.getDecoder().decode(browser.screenshot()));
        assertThat(picture).isNotEmptyFile();
    }
}
