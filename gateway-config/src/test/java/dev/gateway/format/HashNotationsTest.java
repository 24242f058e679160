package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.format.HashNotation.Apr1;
import dev.gateway.format.HashNotation.Argon2;
import dev.gateway.format.HashNotation.Bcrypt;
import dev.gateway.format.HashNotation.Sha1;
import dev.gateway.format.HashNotation.ShaCrypt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HashNotationsTest {
    @Test
    void hashesAreTakenApart() {
        String bcrypt = "$2y$05$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO";
        String sha256 = "$5$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/";
        String rounds = "$5$rounds=1000$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/";
        String apr1 = "$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71";
        assertThat(HashNotations.parse(bcrypt)).isEqualTo(new Bcrypt(bcrypt, 5));
        assertThat(HashNotations.parse("$argon2id$v=19$m=64,t=3,p=2$c29tZXNhbHQ$31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g"))
                .isEqualTo(new Argon2("id", 19, 64, 3, 2, "c29tZXNhbHQ", "31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g"));
        assertThat(HashNotations.parse(sha256)).isEqualTo(new ShaCrypt(sha256, 256, 5000));
        assertThat(HashNotations.parse(rounds)).isEqualTo(new ShaCrypt(rounds, 256, 1000));
        assertThat(HashNotations.parse(apr1)).isEqualTo(new Apr1(apr1));
        assertThat(HashNotations.parse("{SHA}IiBFp4PZiy061PZ88p64fx7ufjY="))
                .isEqualTo(new Sha1("IiBFp4PZiy061PZ88p64fx7ufjY="));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$2y$05$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO",
                "$argon2id$v=19$m=64,t=3,p=2$c29tZXNhbHQ$31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g",
                "$5$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/",
                "$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71",
                "{SHA}IiBFp4PZiy061PZ88p64fx7ufjY="
            })
    void noneShowsItself(String text) {
        assertThat(HashNotations.parse(text)).hasToString("(a hash)");
    }

    @ParameterizedTest
    @CsvSource({
        "$2y$17$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO, cost is not from 4 to 16",
        "$6$ksSNAYMD5eD2inKN$short, a SHA-crypt hash that is damaged",
        "'$argon2id$v=19$m=64,t=3,p=2$c29tZXNhbHQcc$31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g', an argon2 hash that is damaged",
        "'$argon2id$v=19$m=15,t=3,p=2$c29tZXNhbHQ$31XYcrz/TvaRXaUrrHQgeSueT0oc1x1g', m from 8p to 262144",
        "realm:0123456789abcdef0123456789abcdef, a line of htdigest",
        "secret, not hashed in a way that is known",
    })
    void whatIsWrongIsSaid(String text, String problem) {
        assertThatThrownBy(() -> HashNotations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "secret",
                "$2y$05$short",
                "$2x$05$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO",
                "$2y$03$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO",
                "$2y$31$KsKk.keYMUl4qsOZR2E6ounw0b6/1sQEcbY60fY3YPXcezqN9e2IO",
                "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo",
                "$argon2id$v=19$m=256,t=0,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo",
                "$argon2id$v=19$m=7,t=1,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo",
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ=$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo",
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQc2$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56b",
                "{SHA}IiBFp4PZiy061PZ88p64fx7ufj=",
                "{SSHA}IiBFp4PZiy061PZ88p64fx7ufjY=",
                "$apr1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ7",
                "$1$iO6COna9$WHSuFsH3QD4mTQX9XvxZ71",
                "$5$rounds=9999999$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/",
                "$6$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/",
                "$5$rounds=0999$ksSNAYMD5eD2inKN$e3llgiB3..JaQHRqHlX2DEbw6/dPKLX8AUf79qfgc7/",
                "$5$ksSNAYMD5eD2inKN$utS1tNdbrhHe/MVViA21BIs.cOX0BTQzlV4ECRXWB/fBC.0mobH6QaIL86x7jHX5dY9tzHIjXzd79WHyKn5Za/",
                "rqXexS6ZhobKA"
            })
    void whatIsNoHashIsAnErrorThatDoesNotShowIt(String text) {
        assertThatThrownBy(() -> HashNotations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(error -> assertThat(text.isEmpty()
                                || !String.valueOf(error.getMessage()).contains(text))
                        .isTrue());
    }
}
