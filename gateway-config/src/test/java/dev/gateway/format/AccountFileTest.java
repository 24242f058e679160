package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.format.AccountFile.Users;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How users, tokens and groups are used is tested where they are. */
class AccountFileTest {
    private static final Path FILE = Path.of("file");
    private static final String SHA = "{SHA}IiBFp4PZiy061PZ88p64fx7ufjY=";

    @Test
    void faultsComeInTheOrderOfTheirLines() {
        Users users = AccountFile.users(FILE, "a:plain\n\n  b\nc:" + SHA + "\nc:" + SHA + "\nd:" + SHA);
        assertThat(users.hashes()).containsOnlyKeys("d");
        assertThat(users.faults())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("file:1:1: the password is not hashed"),
                        second -> assertThat(second).isEqualTo("file:3:3: expected a user, ':' and a hash"),
                        third -> assertThat(third).isEqualTo("file:5:1: user 'c' for a second time"));
    }

    @Test
    void aByteOrderMarkIsNoPartOfAName() {
        assertThat(AccountFile.users(FILE, "\ufeffann:" + SHA).hashes()).containsOnlyKeys("ann");
    }

    @Test
    void aNameHasNoControlCharacters() {
        assertThat(AccountFile.groups(FILE, "a\u0085b: ann").faults()).hasSize(1);
        assertThat(AccountFile.groups(FILE, "a\u007fb: ann").faults()).hasSize(1);
    }

    @Test
    void aLongNameIsShortened() {
        String name = "n".repeat(61);
        assertThat(AccountFile.users(FILE, name + ":" + SHA + "\n" + name + ":" + SHA)
                        .faults())
                .containsExactly("file:2:1: user '" + "n".repeat(57) + "...' for a second time");
    }

    @Test
    void aTokenIsKnownByItsDigestHoweverItIsWritten() {
        String digest = "D9298A10D1B0735837DC4BD85DAC641B0F3CEF27A47E5D53A54F2F3F5B2FCFFA"; // of "other"
        assertThat(AccountFile.tokens(FILE, "a:sha256:" + digest + "\nb:other").faults())
                .containsExactly("file:2:1: a token for a second time");
    }

    @Test
    void aGroupMayHaveMoreThanOneLineOrNobody() {
        assertThat(AccountFile.groups(FILE, "a: x  y\nb:\na:\tz").members())
                .containsEntry("a", Set.of("x", "y", "z"))
                .containsEntry("b", Set.of());
    }

    @Test
    void aNameAndAPasswordAreOneLine() {
        String text = "# of the parent\n ann : se:cret \n";
        NameAndPassword read = AccountFile.nameAndPassword(FILE, text, false);
        assertThat(read).isEqualTo(new NameAndPassword("ann", "se:cret"));
        assertThat(read.toString()).doesNotContain("cret");
    }

    @Test
    void whatIsNotOneNameAndOnePasswordIsRefused() {
        assertThatThrownBy(() -> AccountFile.nameAndPassword(FILE, "# nobody", false))
                .hasMessage("nothing in file: expected one line of a name, ':' and a password");
        assertThatThrownBy(() -> AccountFile.nameAndPassword(FILE, "a:b\nc:d", false))
                .hasMessage("file:2:1: a second line: expected one of a name, ':' and a password");
        assertThatThrownBy(() -> AccountFile.nameAndPassword(FILE, "a:", false))
                .hasMessage("file:1:1: no password after the ':'");
    }

    @Test
    void socksHasRoomFor255Bytes() {
        String text = "a:" + "\u00fc".repeat(128);
        assertThat(AccountFile.nameAndPassword(FILE, text, false).password()).hasSize(128);
        assertThatThrownBy(() -> AccountFile.nameAndPassword(FILE, text, true))
                .hasMessageContaining("SOCKS has room for no more than 255 bytes");
    }

    @Test
    void credentialsAreWrittenAsHttpHasThem() {
        assertThat(new NameAndPassword("Aladdin", "open sesame").basic())
                .isEqualTo("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="); // the example of RFC 7617, section 2
        assertThat(new NameAndPassword("test", "123\u00a3").basic())
                .isEqualTo("Basic dGVzdDoxMjPCow=="); // that of section 2.1: UTF-8
    }

    @Test
    void credentialsAreNeverPrinted() {
        assertThat(new NameAndPassword("ann", "secret").toString())
                .doesNotContain("ann")
                .doesNotContain("secret");
    }
}
