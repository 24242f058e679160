package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageTypeTest {
    @ParameterizedTest
    @CsvSource({
        "errors/404.html, HTML",
        "a.HTM, HTML",
        "a.html.json, JSON",
        "a.txt, TEXT",
        "a.xml, XML",
        "a.gif,",
        "html,",
    })
    void theExtensionOfAFileTellsItsType(String file, PageType type) {
        assertThat(PageType.of(file)).isEqualTo(type);
    }

    @Test
    void whatIsFilledInStaysText() {
        String evil = "\"'><script>&\n";
        assertThat(PageType.HTML.escape(evil)).isEqualTo("&quot;&#39;&gt;&lt;script&gt;&amp;\n");
        assertThat(PageType.XML.escape(evil)).isEqualTo(PageType.HTML.escape(evil));
        assertThat(PageType.JSON.escape(evil)).isEqualTo("\\\"'><script>&\\n");
        assertThat(PageType.TEXT.escape(evil)).isEqualTo(evil);
    }

    @Test
    void messagesNameAllExtensions() {
        assertThat(PageType.allExtensions()).isEqualTo(".html, .htm, .json, .txt, .xml");
    }
}
