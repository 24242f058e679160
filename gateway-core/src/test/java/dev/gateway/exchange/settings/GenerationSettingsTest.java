package dev.gateway.exchange.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What exchanges keep of their generation. */
class GenerationSettingsTest {
    @Test
    void whoeverAsksAfterTheHeadGetsWhatIsUsual() {
        ExchangeSettings left = new GenerationSettings(1, null, List.of()).afterHead();
        assertThat(left.serverHeader(3)).isSameAs(ServerHeader.DEFAULT);
        assertThat(left.requestIds(3)).isSameAs(RequestIdSettings.DEFAULT);
        assertThat(left.trust(3)).isSameAs(ClientTrust.NOBODY);
        assertThat((CharSequence) left.name()).hasToString("gateway");
    }
}
