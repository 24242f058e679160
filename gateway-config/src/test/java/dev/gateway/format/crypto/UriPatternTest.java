package dev.gateway.format.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which URIs can be asked for, and which ones they stand for. */
class UriPatternTest {
    @ParameterizedTest
    @CsvSource({
        "spiffe://example.org/ns/shop/sa/cart, spiffe://example.org/ns/shop/sa/cart, true",
        "spiffe://example.org/ns/shop/sa/cart, spiffe://example.org/ns/shop/sa/cart/x, false",
        "spiffe://example.org/ns/shop/sa/cart, spiffe://example.org/ns/shop/sa/car, false",
        "spiffe://example.org/ns/shop/sa/cart, spiffe://example.org/ns/Shop/sa/cart, false",
        "spiffe://example.org/ns/shop/*, spiffe://example.org/ns/shop/cart, true",
        "spiffe://example.org/ns/shop/*, spiffe://example.org/ns/shop/sa/cart, true",
        "spiffe://example.org/ns/shop/*, spiffe://example.org/ns/shop, false",
        "spiffe://example.org/ns/shop/*, spiffe://example.org/ns/shop/, false",
        "spiffe://example.org/ns/shop/*, spiffe://example.org/ns/shopper/cart, false",
        "spiffe://example.org/*, spiffe://example.org/a, true",
        "spiffe://example.org/*, spiffe://example.org.evil.test/a, false",
        "spiffe://example.org/*, spiffe://example.orga, false",
        "https://example.org/*, https://example.org/a?b, true",
        "urn:uuid:f81d4fae, urn:uuid:f81d4fae, true",
        "urn:uuid:f81d4fae, urn:uuid:F81D4FAE, false",
    })
    void aPatternIsOneUriOrAllBelowIt(String pattern, String uri, boolean matches) {
        assertThat(Objects.requireNonNull(UriPattern.parse(pattern)).matches(uri))
                .isEqualTo(matches);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*",
                "example.org",
                "/ns/shop",
                "urn:",
                "urn:a/*",
                "a b:c",
                "https://*/a",
                "https:///*",
                "https://*.example.org/a",
                "https://example.org/a*",
                "https://example.org/*/b",
                "https://example.org/a?b/*",
                "https://example.org/\u0000",
                "https://example.org/\u00fc",
                "spiffe://*",
                "spiffe://*/ns",
                "spiffe://example.*/ns",
                "spiffe:///*",
                "spiffe://Example.org/ns",
                "SPIFFE://example.org/ns",
                "spiffe://example.org/",
                "spiffe://example.org/ns/",
                "spiffe://example.org//*",
                "spiffe://example.org/ns/../admin",
                "spiffe://example.org/ns/./*",
                "spiffe://example.org/ns%2f",
                "spiffe://example.org:8080/ns",
                "spiffe://user@example.org/ns",
                "spiffe://example.org/ns?x",
                "spiffe:example.org/ns",
            })
    void otherTextsAreNone(String text) {
        assertThat(UriPattern.parse(text)).isNull();
    }

    @Test
    void aSpiffeIdHasAtMost2048BytesAndATrustDomainOf255() {
        String domain = "spiffe://" + "a".repeat(255);
        assertThat(SpiffeId.isValid(domain)).isTrue();
        assertThat(SpiffeId.isValid(domain + "a")).isFalse();
        String longest = "spiffe://example.org/" + "a".repeat(2048 - 21);
        assertThat(SpiffeId.isValid(longest)).isTrue();
        assertThat(SpiffeId.isValid(longest + "a")).isFalse();
        assertThat(UriPattern.parse("urn:" + "a".repeat(2045))).isNull();
    }
}
