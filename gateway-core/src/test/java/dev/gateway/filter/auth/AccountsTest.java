package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.auth.Accounts.Groups;
import dev.gateway.filter.auth.Accounts.Tokens;
import dev.gateway.filter.auth.Accounts.Users;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccountsTest {
    private static final Path FILE = Path.of("users");
    private static final String SHA = "{SHA}IiBFp4PZiy061PZ88p64fx7ufjY=";
    private static final String BCRYPT = "$2b$04$64eCOZqACB1JyhBtYkbImu4VQueirStv8/teKcjHFUfKWJIstC1bi";

    @Test
    void usersAreReadAsHtpasswdWritesThem() {
        Users users = Users.parse(
                FILE, "# people\r\n\nann:" + SHA + "\r\n  j\u00fcrgen : " + BCRYPT + " \n#bob:" + SHA + "\n");

        assertThat(users.hashes()).containsOnlyKeys("ann", "j\u00fcrgen");
        assertThat(users.faults()).isEmpty();
        assertThat(Users.parse(FILE, "").decoy(7)).isNull();
    }

    @Test
    void whoDoesNotExistCostsWhatSomebodyWhoDoesCosts() {
        Users users = Users.parse(FILE, "ann:" + SHA + "\nbob:" + BCRYPT);
        assertThat(users.decoy(0)).isSameAs(users.decoy(2)).isSameAs(users.decoy(-2));
        assertThat(List.of(Objects.requireNonNull(users.decoy(0)), Objects.requireNonNull(users.decoy(1))))
                .containsExactlyInAnyOrderElementsOf(users.hashes().values());
    }

    @Test
    void aLineThatIsWrongLocksOutItsOwnUserOnly() {
        Users users =
                Users.parse(FILE, "ann:" + SHA + "\ncarol:plain\nbob:" + SHA + "\n?\nbob:" + SHA + "\ndave:" + SHA);
        assertThat(users.hashes()).containsOnlyKeys("ann", "dave");
        assertThat(users.faults()).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ann | users:2:1: expected a user, ':' and a hash",
                ":x | users:2:1: expected a user, ':' and a hash",
                "ann:secret | users:2:1: the password is not hashed in a way that is known",
                "bob:{SHA}IiBFp4PZiy061PZ88p64fx7ufjY= | users:2:1: user 'bob' for a second time",
            })
    void aLineThatIsWrongIsNamedWithoutShowingAPassword(String line, String message) {
        assertThat(Users.parse(FILE, "bob:" + SHA + "\n" + line).faults())
                .singleElement()
                .asString()
                .startsWith(message)
                .doesNotContain("secret");
    }

    @Test
    void aWrongLineOfGroupsSpoilsTheFile() {
        assertThatThrownBy(() -> Groups.parse(FILE, "builders: ann\ncontractors bob\n"))
                .isInstanceOf(AuthFileException.class)
                .hasMessageContaining(":2:1: ");
    }

    @Test
    void aMemberHasAllGroupsThatNameIt() throws Exception {
        Groups groups = Groups.parse(FILE, "builders: ann bob\n# x\nadmins:\tann\nempty:\nbuilders: carl\n");

        assertThat(groups.identity("ann").groups()).containsExactlyInAnyOrder("builders", "admins");
        assertThat(groups.identity("carl").groups()).containsExactly("builders");
        assertThat(groups.identity("eve").groups()).isEmpty();
    }

    @Test
    void tokensAreKnownByThemselvesOrByTheirDigest() {
        // printf other | sha256sum
        Tokens tokens = Tokens.parse(
                FILE,
                """
                ci:tok-1==
                ci:tok-2
                cd:sha256:d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa
                """);

        assertThat(tokens.owner(bytes("tok-1=="))).isEqualTo("ci");
        assertThat(tokens.owner(bytes("tok-2"))).isEqualTo("ci");
        assertThat(tokens.owner(bytes("other"))).isEqualTo("cd");
        assertThat(tokens.owner(bytes("tok-3"))).isNull();
        assertThat(tokens.owner(bytes(""))).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ci:a b | users:1:1: a token has letters",
                "ci: | users:1:1: a token has letters",
                "ci:sha256:abc | users:1:1: expected 64 hexadecimal digits after sha256:",
                "ci:sha256:abcd | users:1:1: expected 64 hexadecimal digits after sha256:",
                "ci:sha256:xyzz | users:1:1: expected 64 hexadecimal digits after sha256:",
                "tok | users:1:1: expected an identity, ':' and a token",
            })
    void aTokenThatIsNoneIsAnError(String line, String message) {
        Tokens tokens = Tokens.parse(FILE, line + "\nok:tok-9");
        assertThat(tokens.faults()).singleElement().asString().startsWith(message);
        assertThat(tokens.owner(bytes("tok-9"))).isEqualTo("ok");
    }

    @Test
    void aTokenHasOneOwner() {
        Tokens tokens = Tokens.parse(FILE, "a:tok\nb:tok");
        assertThat(tokens.faults()).containsExactly("users:2:1: a token for a second time");
        assertThat(tokens.owner(bytes("tok"))).isNull();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
