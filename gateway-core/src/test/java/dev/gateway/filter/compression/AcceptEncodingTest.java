package dev.gateway.filter.compression;

import static dev.gateway.filter.coding.ContentCoding.BR;
import static dev.gateway.filter.coding.ContentCoding.DEFLATE;
import static dev.gateway.filter.coding.ContentCoding.GZIP;
import static dev.gateway.filter.coding.ContentCoding.ZSTD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which coding a client gets (RFC 9110, section 12.5.3). */
class AcceptEncodingTest {
    private static String choose(List<ContentCoding> offered, String... values) {
        Fields fields = new Fields();
        for (String value : values) {
            fields.add(FieldName.ACCEPT_ENCODING, value);
        }
        List<ContentCoding> ranked = AcceptEncoding.rank(fields, offered);
        return ranked.isEmpty() ? "none" : ranked.get(0).token().toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gzip | gzip",
                "deflate | deflate",
                "GZip | gzip",
                "x-gzip | gzip",
                "gzip, deflate | gzip",
                "deflate, gzip | gzip",
                "gzip, deflate, br, zstd | gzip",
                "br | none",
                "identity | none",
                "'' | none",
                "',' | none",
                "* | gzip",
                "*;q=0 | none",
                "gzip;q=0, * | deflate",
                "gzip;q=0 | none",
                "gzip;q=0.000 | none",
                "gzip;q=0.001 | gzip",
                "gzip; q=0.5 , deflate ;q=0.8 | deflate",
                "gzip;Q=1.0 | gzip",
                "gzip;q=0.5, deflate;q=0.5 | gzip",
                "gzip;q=0.5, identity | none",
                "gzip;q=0.5, identity;q=0.5 | gzip",
                "gzip;q=0.5, identity;q=0 | gzip",
                "identity;q=0 | none",
                "identity;q=0, *;q=0.1 | gzip",
                "*;q=0.1, deflate;q=0.2 | deflate",
                "gzip;q=2 | none",
                "gzip;q=1.001 | none",
                "gzip;q=0.0001 | none",
                "gzip;q= | none",
                "gzip;q=a | none",
                "gzip;q=1x | none",
                "gzip;q=0.5x | none",
                "gzip;foo=1 | none",
                "gzip;q=1;q=1 | none",
                "gzip;q=0. | none",
                "gzip;q=1. | gzip",
                "gzi | none",
                "gzipp | none",
                "gzip\t;\tq=0.4 | gzip",
            })
    void theClientsWeightsDecide(String value, String chosen) {
        assertThat(choose(List.of(GZIP, DEFLATE), value)).isEqualTo(chosen);
    }

    @Test
    void theOrderOfTheOfferDecidesBetweenWhatIsLikedAlike() {
        assertThat(choose(List.of(DEFLATE, GZIP), "gzip, deflate")).isEqualTo("deflate");
        assertThat(choose(List.of(DEFLATE, GZIP), "*")).isEqualTo("deflate");
        assertThat(choose(List.of(DEFLATE, GZIP), "gzip, deflate;q=0.9")).isEqualTo("gzip");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gzip, deflate, br, zstd | ZSTD, BR, GZIP, DEFLATE",
                "* | ZSTD, BR, GZIP, DEFLATE",
                "gzip;q=0.8, br;q=0.9, deflate;q=0.8 | BR, GZIP, DEFLATE",
                "deflate, *;q=0.5, br;q=0 | DEFLATE, ZSTD, GZIP",
                "gzip;q=0.1, zstd;q=0.2, identity;q=0.2 | ZSTD",
                "identity | ''",
            })
    void theOthersFollowByTheirWeights(String value, String ranked) {
        Fields fields = new Fields();
        fields.add(FieldName.ACCEPT_ENCODING, value);
        assertThat(AcceptEncoding.rank(fields, List.of(ZSTD, BR, GZIP, DEFLATE)))
                .hasToString("[" + ranked + "]");
    }

    @Test
    void whatIsNotOfferedIsNotChosen() {
        assertThat(choose(List.of(GZIP), "deflate, gzip;q=0.1")).isEqualTo("gzip");
        assertThat(choose(List.of(DEFLATE), "gzip")).isEqualTo("none");
    }

    @Test
    void severalFieldsAreOneList() {
        assertThat(choose(List.of(GZIP, DEFLATE), "gzip;q=0.5", "deflate")).isEqualTo("deflate");
    }

    @Test
    void whoSaysNothingGetsNoCoding() {
        assertThat(choose(List.of(GZIP, DEFLATE))).isEqualTo("none");
    }
}
