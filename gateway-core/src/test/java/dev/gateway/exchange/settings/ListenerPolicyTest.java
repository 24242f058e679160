package dev.gateway.exchange.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What exchanges keep of their generation. */
class ListenerPolicyTest {
    @Test
    void whoeverAsksAfterTheHeadGetsWhatIsUsual() {
        ExchangeSettings left = ListenerPolicy.AFTER_HEAD;
        assertThat(left.serverHeader()).isSameAs(ServerHeader.DEFAULT);
        assertThat(left.requestIds()).isSameAs(RequestIdSettings.DEFAULT);
        assertThat(left.trust()).isSameAs(ClientTrust.NOBODY);
        assertThat((CharSequence) left.name()).hasToString("gateway");
    }
}
