package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The order of those who wait, of whom any may leave: clients take turns. */
class WaitQueueTest {
    private Set<Object> last = Set.of();
    private final WaitQueue<Named> queue = new WaitQueue<>(() -> last);
    private long now;

    /** One who waits, such as {@code b2}: the second of the client b. */
    private static final class Named extends WaitQueue.Entry<Named> {
        final String name;

        Named(String name) {
            super(name.substring(0, 1));
            this.name = name;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private Named add(String name) {
        Named added = new Named(name);
        queue.add(added);
        return added;
    }

    private void addAll(String... names) {
        List.of(names).forEach(this::add);
    }

    private String serve() {
        Named first = Objects.requireNonNull(queue.first());
        queue.endTurn(first, ++now);
        queue.remove(first);
        return first.name;
    }

    private List<String> serveAll() {
        List<String> served = new ArrayList<>();
        while (queue.size() > 0) {
            served.add(serve());
        }
        return served;
    }

    private List<String> names() {
        return queue.copy().stream().map(each -> each.name).toList();
    }

    @Test
    void thoseOfOneClientKeepTheirOrder() {
        addAll("a1", "a2", "a3");
        assertThat(names()).containsExactly("a1", "a2", "a3");
        assertThat(serveAll()).containsExactly("a1", "a2", "a3");
        assertThat(queue.first()).isNull();
    }

    @Test
    void clientsTakeTurns() {
        addAll("a1", "a2", "a3", "b1", "b2", "c1");
        assertThat(names()).containsExactly("a1", "b1", "c1", "a2", "b2", "a3");
        assertThat(serveAll()).containsExactly("a1", "b1", "c1", "a2", "b2", "a3");
    }

    @Test
    void whoComesLaterIsServedWithinOneRound() {
        for (int i = 0; i < 1_000; i++) {
            add("a" + i);
        }
        serve();
        add("b1");
        add("c1");
        assertThat(List.of(serve(), serve(), serve())).containsExactly("a1", "b1", "c1");
    }

    @Test
    void whoComesAgainAndAgainDoesNotGetAheadOfOthers() {
        addAll("a1", "b1", "c1");
        assertThat(serve()).isEqualTo("a1");
        add("a2");
        assertThat(serve()).isEqualTo("b1");
        add("b2");
        assertThat(serveAll()).containsExactly("c1", "a2", "b2");
    }

    @Test
    void whoLeavesUnservedCostsItsClientNoTurn() {
        Named first = add("a1");
        addAll("a2", "b1");
        queue.remove(first);
        assertThat(first.isQueued()).isFalse();
        queue.remove(first);
        assertThat(queue.size()).isEqualTo(2);
        assertThat(serveAll()).containsExactly("a2", "b1");
    }

    @Test
    void anyMayLeave() {
        add("a1");
        Named middle = add("a2");
        Named last = add("a3");
        Named other = add("b1");
        queue.remove(middle);
        queue.remove(other);
        assertThat(names()).containsExactly("a1", "a3");
        queue.remove(last);
        queue.add(other);
        queue.add(middle);
        assertThat(serveAll()).containsExactly("a1", "b1", "a2");
    }

    /** Compared with the copy, whose order is that of service. */
    @Test
    void whoIsAmongTheFirstIsKnown() {
        addAll("a1", "a2", "a3", "a4", "b1", "c1", "c2", "d1");
        List<Named> all = queue.copy();
        for (int count = 0; count <= all.size() + 1; count++) {
            for (int i = 0; i < all.size(); i++) {
                assertThat(queue.isAmongFirst(all.get(i), count))
                        .as("%s among the first %s", all.get(i), count)
                        .isEqualTo(i < count);
            }
        }
        assertThat(queue.isAmongFirst(new Named("a9"), 9)).isFalse();
    }

    @Test
    void thoseOfClientsWithMuchComeAfterAllOthers() {
        addAll("a1", "a2", "b1", "c1", "c2", "d1");
        last = Set.of("a", "b");
        assertThat(queue.first()).hasToString("c1");
        assertThat(names()).containsExactly("c1", "d1", "c2", "a1", "b1", "a2");
        assertThat(serve()).isEqualTo("c1");
        addAll("a3", "e1", "c3");
        assertThat(serveAll()).containsExactly("d1", "c2", "e1", "c3", "a1", "b1", "a2", "a3");
    }

    @Test
    void whoHasMuchNoLongerTakesTurnsAgain() {
        last = Set.of("a");
        addAll("a1", "b1", "b2", "b3", "c1");
        assertThat(serve()).isEqualTo("b1");
        last = Set.of();
        assertThat(serveAll()).containsExactly("c1", "b2", "a1", "b3");
    }

    @Test
    void whoHasMuchAndWhoIsAmongTheFirstIsKnown() {
        last = Set.of("b", "d");
        addAll("a1", "a2", "a3", "a4", "b1", "b2", "c1", "c2", "d1");
        List<Named> all = queue.copy();
        for (int count = 0; count <= all.size() + 1; count++) {
            for (int i = 0; i < all.size(); i++) {
                assertThat(queue.isAmongFirst(all.get(i), count))
                        .as("%s among the first %s", all.get(i), count)
                        .isEqualTo(i < count);
            }
        }
    }

    @Test
    void whoFitsAndHasMuchIsFoundLast() {
        addAll("a1", "b1");
        last = Set.of("a");
        Named found = queue.first(each -> each.name.endsWith("1"));
        assertThat(found).hasToString("b1");
        assertThat(Objects.requireNonNull(found).comesLast()).isFalse();
        queue.remove(found);
        assertThat(queue.first(each -> true)).hasToString("a1");
        assertThat(Objects.requireNonNull(queue.first()).comesLast()).isTrue();
    }

    @Test
    void theFirstThatFitsIsFound() {
        addAll("a1", "a2", "b1", "b2");
        Named found = queue.first(each -> each.name.endsWith("2"));
        assertThat(found).hasToString("a2");
        assertThat(queue.first(each -> false)).isNull();
    }

    @Test
    void aTurnIsDueSinceTheLastOne() {
        Named first = add("a1");
        Named second = add("a2");
        assertThat(second.dueSinceNanos(-5)).isEqualTo(-5);
        queue.endTurn(first, 77);
        assertThat(second.dueSinceNanos(-5)).isEqualTo(77);
    }
}
