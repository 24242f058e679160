package dev.gateway.message.forwarded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.message.Heads;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForwardedHopsTest {
    private static List<String> hops(ForwardedHeaders mode, String... lines) {
        ForwardedHops hops = new ForwardedFields(mode).hops(Heads.fields(lines));
        List<String> all = new ArrayList<>();
        for (String hop = hops.next(); hop != null; hop = hops.next()) {
            all.add(hop);
        }
        assertThat(hops.next()).isNull();
        return all;
    }

    private static List<String> listed(String... lines) {
        return hops(ForwardedHeaders.X_FORWARDED, lines);
    }

    private static List<String> standard(String... values) {
        String[] lines = new String[values.length];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = "Forwarded: " + values[i];
        }
        return hops(ForwardedHeaders.FORWARDED, lines);
    }

    @Test
    void theNearestHopIsTheLastOne() {
        assertThat(listed("X-Forwarded-For: 192.0.2.1, 2001:db8::1,unknown"))
                .containsExactly("unknown", "2001:db8::1", "192.0.2.1");
        assertThat(listed("Host: a", "x-forwarded-for: a, b", "Accept: x", "X-Forwarded-For: c"))
                .containsExactly("c", "b", "a");
    }

    @Test
    void emptyElementsAreNone() {
        assertThat(listed()).isEmpty();
        assertThat(listed("X-Forwarded-For:")).isEmpty();
        assertThat(listed("X-Forwarded-For: ,a, \t,,b,", "X-Forwarded-For: ,")).containsExactly("b", "a");
    }

    /** X-Forwarded-For has no quoted strings, so a comma separates hops wherever it stands. */
    @Test
    void quotesMeanNothingInXForwardedFor() {
        assertThat(listed("X-Forwarded-For: \"a, b\", c")).containsExactly("c", "b\"", "\"a");
    }

    @Test
    void oneFieldCountsAndTheOtherOnlyWhereThatIsAbsent() {
        String[] both = {"Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.2"};
        assertThat(hops(ForwardedHeaders.X_FORWARDED, both)).containsExactly("192.0.2.2");
        assertThat(hops(ForwardedHeaders.BOTH, both)).containsExactly("192.0.2.2");
        assertThat(hops(ForwardedHeaders.OFF, both)).containsExactly("192.0.2.2");
        assertThat(hops(ForwardedHeaders.FORWARDED, both)).containsExactly("192.0.2.1");
        assertThat(hops(ForwardedHeaders.X_FORWARDED, "Forwarded: for=192.0.2.1"))
                .containsExactly("192.0.2.1");
        assertThat(hops(ForwardedHeaders.FORWARDED, "X-Forwarded-For: 192.0.2.2"))
                .containsExactly("192.0.2.2");
    }

    @Test
    void elementsOfForwardedNameTheirHopByFor() {
        assertThat(standard("for=192.0.2.1")).containsExactly("192.0.2.1");
        assertThat(standard("proto=https; For=192.0.2.1 ;by=\"a;for=x,for=y\"")).containsExactly("192.0.2.1");
        assertThat(standard("host=\"a, b\";for=\"[2001:db8::1]:80\", for=_x", "by=b"))
                .containsExactly("", "_x", "[2001:db8::1]:80");
        assertThat(standard("xfor=192.0.2.1;fort=1")).containsExactly("");
        assertThat(standard("by=\"\\\\\\\"\";for=a,for=b")).containsExactly("b", "a");
    }

    /** What stands before is a stranger's, and may be anything; what trusted proxies have added is read all the same. */
    @Test
    void whatAStrangerWroteChangesNothingBehindIt() {
        for (String begun : List.of("\"", "for=\"x", "for=\"\\", "\\", "for=\"a\\\"", ";;=\"", "\"\"\"")) {
            assertThat(standard(begun + ", for=192.0.2.1, for=\"[2001:db8::1]\"")
                            .subList(0, 2))
                    .as(begun)
                    .containsExactly("[2001:db8::1]", "192.0.2.1");
        }
    }

    @Test
    void aQuoteEndsAtOneThatIsNotEscaped() {
        assertThat(standard("for=a;host=\"x,y\", for=b")).containsExactly("b", "a");
        assertThat(standard("for=a;host=\"x\\\",y\", for=b")).containsExactly("b", "a");
        assertThat(standard("for=a;host=\"x\\\\\", for=b")).containsExactly("b", "a");
        assertThat(standard("for=a;host=\"x\\\\\\\",y\", for=b")).containsExactly("b", "a");
        assertThat(standard("host=\"\\\";for=evil\";for=a")).containsExactly("a");
        assertThat(standard("host=\"\\\\\";for=a")).containsExactly("a");
    }

    @Test
    void aForNeedsItsEqualsSign() {
        assertThat(standard("for")).containsExactly("");
        assertThat(standard("for=")).containsExactly("");
        assertThat(standard("fox=a")).containsExactly("");
        assertThat(standard("gor=a")).containsExactly("");
        assertThat(standard("fpr=a")).containsExactly("");
        assertThat(standard("for:a")).containsExactly("");
        assertThat(standard("FOR=a \t")).containsExactly("a");
        assertThat(standard(" ;\t;for=a")).containsExactly("a");
    }

    @Test
    void quotesAroundAnAddressAreTakenOff() {
        assertThat(standard("for=\"[2001:db8::1]:80\"")).containsExactly("[2001:db8::1]:80");
        assertThat(standard("for=\"\"")).containsExactly("");
        assertThat(standard("for=\"")).containsExactly("\"");
        assertThat(standard("for=\"a\" ;by=b")).containsExactly("a");
    }
}
