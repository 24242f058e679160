package dev.gateway.config.yaml.schema.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
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

    @Test
    void aWordInBracesThatWeDoNotHaveIsNamed() {
        Set<String> known = Set.of("client", "authority", "path");
        assertThat(ForeignPlaceholders.unknownWord("{client} {host}", known)).endsWith(": write {authority}");
        assertThat(ForeignPlaceholders.unknownWord("{clientIp}", known)).endsWith(": did you mean {client}?");
        assertThat(ForeignPlaceholders.unknownWord("{env.HOME}", known))
                .endsWith(": words are authority, client, path");
        assertThat(ForeignPlaceholders.unknownWord("{{client}}", known)).endsWith(": write {client}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{client}", "{\"a\": {\"b\": 1}}", "{{other}}", "{ host }", "{?query}", "{}"})
    void bracesWithoutAWordAreLeftAlone(String value) {
        assertThat(ForeignPlaceholders.unknownWord(value, Set.of("client"))).isNull();
    }

    @Test
    void aPathMayHaveADollarSign() {
        assertThat(ForeignPlaceholders.any("/odata/$metadata")).isNull();
        assertThat(ForeignPlaceholders.any("/price/$1.50")).isNull();
        assertThat(ForeignPlaceholders.any("/p/$1")).isEqualTo("$1");
        assertThat(ForeignPlaceholders.any("/a$is_args$args")).isEqualTo("$is_args");
        assertThat(ForeignPlaceholders.any("/a{path}")).isEqualTo("{path}");
    }
}
