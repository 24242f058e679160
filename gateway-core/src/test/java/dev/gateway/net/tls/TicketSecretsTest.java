package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TicketSecretsTest {
    private static final long PERIOD = TimeUnit.SECONDS.toNanos(TicketSecrets.PERIOD_SECONDS);

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // nanoTime may be anything
    private final TicketSecrets secrets = new TicketSecrets(clock::get);

    private List<byte[]> after(long nanos) {
        clock.addAndGet(nanos);
        return secrets.current().secrets();
    }

    @Test
    void withinAPeriodNothingChanges() {
        TicketSecrets.Period first = secrets.current();
        clock.addAndGet(PERIOD - 1);
        assertThat(secrets.current()).isSameAs(first);
    }

    @Test
    void eachPeriodHasItsOwnAndKeepsTwoBefore() {
        byte[] first = after(0).get(0);
        List<byte[]> second = after(PERIOD);
        assertThat(second).hasSize(2).endsWith(first);
        List<byte[]> third = after(PERIOD);
        assertThat(third).hasSize(3).endsWith(second.get(0), first);
        List<byte[]> fourth = after(PERIOD);
        assertThat(fourth).hasSize(3).endsWith(third.get(0), second.get(0)).doesNotContain(first);
        assertThat(fourth).doesNotHaveDuplicates().allMatch(secret -> secret.length == 48);
    }

    @Test
    void aSilenceAgesThemAllTheSame() {
        byte[] first = after(0).get(0);
        assertThat(after(2 * PERIOD + 7)).hasSize(3).endsWith(first);
        assertThat(after(PERIOD - 7))
                .doesNotContain(first); // periods are counted from the first, not from the last call
        byte[] fresh = secrets.current().secrets().get(0);
        assertThat(after(1000 * PERIOD)).hasSize(3).doesNotContain(fresh);
    }
}
