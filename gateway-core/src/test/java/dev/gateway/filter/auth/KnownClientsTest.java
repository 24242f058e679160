package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.ClientNetwork;
import org.junit.jupiter.api.Test;

/** Which clients are remembered if there are too many. */
class KnownClientsTest {
    private static final Object FILE = new Object();

    private final KnownClients known = new KnownClients();

    private static ClientNetwork client(int number) {
        return new ClientNetwork(ClientNetwork.Kind.IPV6, number);
    }

    private void add(String user, int from, int to) {
        for (int i = from; i < to; i++) {
            known.add(FILE, user, client(i));
        }
    }

    @Test
    void aClientIsThatOfOneUserInOneFile() {
        add("ann", 1, 2);
        assertThat(known.has(FILE, "ann", client(1))).isTrue();
        assertThat(known.has(FILE, "bob", client(1))).isFalse();
        assertThat(known.has(FILE, "ann", client(2))).isFalse();
        assertThat(known.has(new Object(), "ann", client(1))).isFalse();
    }

    /** One account and a large network are easy to get. */
    @Test
    void aUserWithManyAddressesMakesNobodyElseForgotten() {
        add("ann", 1, 2);
        add("mallory", 0, 2 * KnownClients.MOST);
        assertThat(known.has(FILE, "ann", client(1))).isTrue();
        assertThat(known.size()).isLessThanOrEqualTo(KnownClients.MOST_OF_USER + 1);
        assertThat(known.has(FILE, "mallory", client(2 * KnownClients.MOST - 1)))
                .isTrue();
        assertThat(known.has(FILE, "mallory", client(0))).isFalse();
    }

    @Test
    void whoComesAgainIsRememberedAndWhoHasNotComeForLongestIsNot() {
        add("ann", 0, KnownClients.MOST_OF_USER);
        assertThat(known.has(FILE, "ann", client(0))).isTrue();
        add("ann", 1, 2);
        add("ann", -1, 0); // one too many
        assertThat(known.has(FILE, "ann", client(-1))).isTrue();
        assertThat(known.has(FILE, "ann", client(0))).isTrue();
        assertThat(known.has(FILE, "ann", client(1))).isTrue();
        assertThat(known.has(FILE, "ann", client(2))).isFalse();
        assertThat(known.has(FILE, "ann", client(KnownClients.MOST_OF_USER - 1)))
                .isTrue();
    }

    @Test
    void allUsersTogetherAreBoundedToo() {
        for (int i = 0; i < 2 * KnownClients.MOST; i++) {
            known.add(FILE, "user" + i, client(i));
            assertThat(known.has(FILE, "user0", client(0))).isTrue();
        }
        assertThat(known.size()).isLessThanOrEqualTo(KnownClients.MOST);
        assertThat(known.has(FILE, "user1", client(1))).isFalse();
    }
}
