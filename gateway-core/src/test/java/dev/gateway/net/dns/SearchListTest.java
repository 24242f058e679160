package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** In which forms a name is asked for. */
class SearchListTest {
    private static final String OF_A_POD =
            """
            nameserver 10.96.0.10
            search shop.svc.cluster.local svc.cluster.local cluster.local
            options ndots:5 edns0
            """;

    @Test
    void aNameWithFewDotsIsCompletedFirst() {
        assertThat(SearchList.of(OF_A_POD).forms("_http._tcp.app.shop.svc"))
                .containsExactly(
                        "_http._tcp.app.shop.svc.shop.svc.cluster.local.",
                        "_http._tcp.app.shop.svc.svc.cluster.local.",
                        "_http._tcp.app.shop.svc.cluster.local.",
                        "_http._tcp.app.shop.svc.");
    }

    @Test
    void aNameWithManyDotsIsTakenAsItIsFirst() {
        assertThat(SearchList.of("search corp.example.\n").forms("_http._tcp.app.example"))
                .containsExactly("_http._tcp.app.example.", "_http._tcp.app.example.corp.example.");
    }

    @Test
    void aNameWithADotAtItsEndIsNeverCompleted() {
        assertThat(SearchList.of(OF_A_POD).forms("app.test.")).containsExactly("app.test.");
    }

    @Test
    void theLastLineCountsAndAMachineMayHaveNone() {
        assertThat(SearchList.of("domain a.test\nsearch b.test\n").forms("app")).containsExactly("app.b.test.", "app.");
        assertThat(SearchList.of("\n# nothing\n").forms("app")).containsExactly("app.");
    }
}
