package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.gateway.stream.Cause;
import dev.gateway.testing.LoggedLines;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an operator learns from audit mode, with room for three of everything. */
class AuditTrailTest {
    private static final Decision ALLOWED = Decision.allow("allow[0]");
    private static final Decision REFUSED = Decision.refuse(Cause.POLICY_HOST, "allow", "no rule allows this host");

    private final AuditTrail trail = new AuditTrail(3);
    private final LoggedLines log = LoggedLines.of(AuditTrail.class).from(Level.INFO);

    @AfterEach
    void stopListening() {
        log.close();
    }

    private static Target target(String authority) {
        return Objects.requireNonNull(Target.parse(new AsciiString(authority), 443));
    }

    private void seen(String authority, Decision decision, int times) {
        for (int i = 0; i < times; i++) {
            trail.seen(target(authority), decision);
        }
    }

    private List<String> observed() {
        return trail.observed().stream()
                .map(each -> each.target() + " " + each.times())
                .toList();
    }

    private List<String> log() {
        return log.messages();
    }

    @Test
    void targetsAreListedMostOftenFirstThenByName() {
        seen("b.example", ALLOWED, 2);
        seen("c.example", REFUSED, 3);
        seen("a.example", REFUSED, 2);
        assertThat(observed()).containsExactly("c.example:443 3", "a.example:443 2", "b.example:443 2");
        assertThat(trail.observed().get(0).decision()).isEqualTo(REFUSED);
        assertThat(trail.observed().get(2).decision()).isEqualTo(ALLOWED);
    }

    @Test
    void eachPortOfAHostIsATargetOfItsOwn() {
        seen("a.example:80", ALLOWED, 1);
        seen("a.example:443", ALLOWED, 2);
        assertThat(observed()).containsExactly("a.example:443 2", "a.example:80 1");
    }

    @Test
    void onlyWhatWouldBeRefusedIsLoggedAndOnlyOnce() {
        seen("a.example", ALLOWED, 2);
        seen("b.example", REFUSED, 2);
        assertThat(log()).containsExactly("audit: b.example:443 would be refused: no rule allows this host (allow)");
    }

    @Test
    void whatFindsNoRoomIsCountedAsDroppedAndWhatIsKnownGoesOnBeingCounted() {
        seen("a.example", REFUSED, 1);
        seen("b.example", REFUSED, 1);
        seen("c.example", REFUSED, 1);
        assertThat(trail.dropped()).isZero();
        seen("d.example", REFUSED, 4);
        seen("c.example", REFUSED, 1);
        assertThat(trail.dropped()).isEqualTo(4);
        assertThat(observed()).containsExactly("c.example:443 2", "a.example:443 1", "b.example:443 1");
        assertThat(log()).as("a client cannot fill the log").hasSize(3);
    }

    @Test
    void anAddressInAnOddFormIsNothingThatAListCouldAllow() {
        seen("127.1", REFUSED, 1);
        assertThat(observed()).isEmpty();
        assertThat(trail.dropped()).isZero();
    }

    @Test
    void aRemarkIsLoggedOnceAndDroppedOnlyIfItIsNew() {
        trail.address("a.example", 443, "10.0.0.1 is private");
        trail.remark("two");
        trail.remark("two");
        trail.remark("three");
        assertThat(trail.dropped()).isZero();
        trail.remark("four");
        trail.remark("two");
        assertThat(trail.dropped()).isEqualTo(1);
        assertThat(log())
                .containsExactly(
                        "audit: a.example:443 would be refused: 10.0.0.1 is private", "audit: two", "audit: three");
    }

    @Test
    void longNamesFindRoomForFewer() {
        AuditTrail large = new AuditTrail(1_000_000);
        String label = "a".repeat(60);
        for (int i = 0; i < 20_000; i++) {
            String host = i + "." + label + "." + label + "." + label;
            large.seen(target(host), ALLOWED);
            large.notPublic(host);
        }
        assertThat(large.dropped()).isPositive();
        int kept = large.observed().size() + large.notPublic().size();
        assertThat(kept * (long) label.length() * 3).isBetween(1_000_000L, 4_000_000L);
        large.remark(label.repeat(10));
        assertThat(log()).isEmpty();
    }

    @Test
    void hostsThatLedToAddressesWhichAreNotPublicAreListedByNameWithinBounds() {
        for (String host : new String[] {"c.example", "a.example", "a.example", "b.example", "d.example"}) {
            trail.notPublic(host);
        }
        assertThat(trail.notPublic()).containsExactly("a.example", "b.example", "c.example");
    }
}
