package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.HashNotations;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hashes were made by htpasswd, the argon2 command, and Python's bcrypt. */
class PasswordHashTest {
    private static final String PASSWORD = "p\u00e4ssw\u00f6rd:1";

    private static PasswordHash parse(String hash) {
        return PasswordHash.of(HashNotations.parse(hash));
    }

    private static boolean matches(String hash, String password) {
        return parse(hash).matches(password.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$2y$05$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO",
                "$2a$04$zH7yQgY6peM6eQxKLrSfpOH6fSmi/Mtm4yXzPAzM8eZPYuXIRTO7S",
                "$2b$04$64eCOZqACB1JyhBtYkbImu4VQueirStv8/teKcjHFUfKWJIstC1bi",
                "$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71",
                "{SHA}IiBFp4PZiy061PZ88p64fx7ufjY=",
                "$5$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/",
                "$6$YpbBPpg9yzZeemmq$utS1tNdbrhHe/MVViA21BIs.cOX0BTQzlV4ECRXWB/fBC.0mobH6QaIL86x7jHX5dY9tzHIjXzd79WHyKn5Za/",
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo",
                "$argon2i$v=19$m=64,t=3,p=2$c29tZXNhbHQ$31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g",
                "$argon2d$v=16$m=64,t=2,p=1$c29tZXNhbHQ$/9PqbscyTFFi7QgXZKnNyanIt8NugmP31gct0L7/wJU"
            })
    void theRightPasswordMatchesAndNoOther(String hash) {
        assertThat(matches(hash, PASSWORD)).isTrue();
        assertThat(matches(hash, PASSWORD + " ")).isFalse();
        assertThat(matches(hash, "p\u00e4ssw\u00f6rd:")).isFalse();
        assertThat(matches(hash, "")).isFalse();
        assertThat(parse(hash).matches(PASSWORD.getBytes(StandardCharsets.ISO_8859_1)))
                .isFalse();
    }

    @Test
    void aPasswordMayBeEmpty() {
        assertThat(matches("$2y$04$W0LBWHQ0yq/p/WMTZuQRp.S60HZsgME7/3zsrZppqfw6Or5px0sbm", ""))
                .isTrue();
    }

    @Test
    void bcryptKnowsTheFirst72Bytes() {
        String hash = "$2b$04$LKcm4jH.VDSRAUovcHLni.zoXCI.FNPYFRUUuKqDp/ow29Hr7hoEu";

        assertThat(matches(hash, "x".repeat(72))).isTrue();
        assertThat(matches(hash, "x".repeat(100))).isTrue();
        assertThat(matches(hash, "x".repeat(71))).isFalse();
    }

    @Test
    void checkingAPasswordLeavesItAsItIs() {
        byte[] password = PASSWORD.getBytes(StandardCharsets.UTF_8);
        parse("$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71").matches(password);

        assertThat(password).isEqualTo(PASSWORD.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatTakesLongerCostsMore() {
        long sha = parse("{SHA}IiBFp4PZiy061PZ88p64fx7ufjY=").cost();
        long apr1 = parse("$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71").cost();
        long bcrypt4 = parse("$2b$04$64eCOZqACB1JyhBtYkbImu4VQueirStv8/teKcjHFUfKWJIstC1bi")
                .cost();
        long bcrypt5 = parse("$2y$05$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO")
                .cost();

        assertThat(sha).isLessThan(apr1);
        assertThat(apr1).isLessThan(bcrypt4);
        assertThat(bcrypt4).isLessThan(bcrypt5);
    }
}
