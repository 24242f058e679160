package dev.gateway.config.yaml.schema.observe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForeignPlaceholdersTest {
    @Test
    void ourWordIsNamedIfTheTextKnowsOne() {
        assertThat(ForeignPlaceholders.inValue("$remote_addr")).endsWith("write {client}");
        assertThat(ForeignPlaceholders.inValue("a %DOWNSTREAM_TLS_VERSION%")).endsWith("write {tlsProtocol}");
        assertThat(ForeignPlaceholders.inValue("$http_x_tenant")).endsWith("write a word in braces, such as {client}");
        assertThat(ForeignPlaceholders.inTemplate("$status")).endsWith("write {status}");
        assertThat(ForeignPlaceholders.inValue("$status")).doesNotContain("{status}");
        assertThat(ForeignPlaceholders.inTemplate("%h {path}")).startsWith("'%h'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "attachment; filename*=UTF-8''%CE%B1%DE%AD.pdf",
                "</odata?$filter=a>",
                "US$usd 100",
                "100 %",
                "{\"endpoints\": []}"
            })
    void whatOnlyLooksLikeOneIsLeftAlone(String value) {
        assertThat(ForeignPlaceholders.inValue(value)).isNull();
    }
}
