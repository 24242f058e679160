package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.AsciiString;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldNameTest {
    private static List<FieldName> known() throws IllegalAccessException {
        List<FieldName> names = new ArrayList<>();
        for (Field field : FieldName.class.getDeclaredFields()) {
            if (field.getType() == FieldName.class && Modifier.isPublic(field.getModifiers())) {
                names.add((FieldName) field.get(null));
            }
        }
        return names;
    }

    private static int idOf(String name) {
        byte[] bytes = ("??" + name).getBytes(StandardCharsets.ISO_8859_1);
        return FieldName.idOf(bytes, 2, name.length());
    }

    @Test
    void everyKnownNameIsFoundInAnyCaseUnderItsOwnId() throws IllegalAccessException {
        Set<Integer> ids = new HashSet<>();
        for (FieldName name : known()) {
            String text = name.canonical().toString();
            assertThat(idOf(text)).isEqualTo(name.id()).isBetween(1, 63);
            assertThat(idOf(text.toLowerCase(Locale.ROOT))).isEqualTo(name.id());
            assertThat(idOf(text.toUpperCase(Locale.ROOT))).isEqualTo(name.id());
            assertThat(FieldName.known(name.id())).isSameAs(name);
            assertThat(FieldName.of(text.toUpperCase(Locale.ROOT))).isSameAs(name);
            assertThat(ids.add(name.id())).isTrue();
        }
        assertThat(ids.size()).isGreaterThan(40);
    }

    @Test
    void namesThatOnlyLookAlikeAreNotKnown() throws IllegalAccessException {
        for (FieldName name : known()) {
            byte[] bytes = name.canonical().toByteArray();
            for (int i = 0; i < bytes.length; i++) {
                // Same hash where bit 5 differs: '-' and CR, letters and control bytes.
                byte[] other = Arrays.copyOf(bytes, bytes.length);
                other[i] ^= 0x20;
                int id = FieldName.idOf(other, 0, other.length);
                assertThat(id == name.id()).isEqualTo(Character.isLetter(bytes[i]));
            }
            assertThat(idOf(name + "x")).isNotEqualTo(name.id());
        }
        assertThat(idOf("")).isZero();
        assertThat(idOf("x-tier")).isZero();
    }

    @Test
    void namesAreEqualWhateverTheirCase() {
        assertThat(FieldName.of("X-Tier")).isEqualTo(FieldName.of("x-tIER")).hasSameHashCodeAs(FieldName.of("x-tier"));
        assertThat(FieldName.of("X-Tier")).isNotEqualTo(FieldName.of("X-Ties"));
        assertThatObject(FieldName.of("X-Tier").canonical()).isEqualTo(new AsciiString("X-Tier"));
        assertThatObject(FieldName.of("X-Tier").lower()).isEqualTo(new AsciiString("x-tier"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:", ":path", "é", "a\r\nb", "\u212a", "a/b"})
    void whatIsNoTokenIsNoName(String name) {
        assertThatThrownBy(() -> FieldName.of(name)).isInstanceOf(IllegalArgumentException.class);
    }
}
