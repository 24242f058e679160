package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AsciiBuilderTest {
    private static final AsciiString VIEW = new AsciiString("-abcdef-").subSequence(1, 7, false);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 9, 10, 11, 12, 40})
    void partsFollowEachOtherWhateverTheCapacity(int capacity) {
        AsciiString built = new AsciiBuilder(capacity)
                .add('<')
                .add(VIEW)
                .add(VIEW, 2, 4)
                .add(VIEW, 3, 3)
                .addDecimal(70)
                .add('>')
                .build();

        assertThat(built.toString()).isEqualTo("<abcdefcd70>");
        assertThat(built.length()).isEqualTo(12);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 9, 10, 11, 99, 100, 101, 65_535, 999_999_999, 1_000_000_000, Integer.MAX_VALUE})
    void numbersAreDecimal(int number) {
        assertThat(new AsciiBuilder(0).addDecimal(number).build().toString()).isEqualTo(Integer.toString(number));
    }

    @Test
    void roomThatIsLeftIsUsed() {
        AsciiBuilder builder = new AsciiBuilder(4).add(VIEW, 0, 3);
        AsciiString full = builder.add('!').build();

        assertThat(full.array()).as("no array but the first").hasSize(4);
        assertThat(builder.add('?').build().array())
                .as("grows to twice as much")
                .hasSize(8);
    }
}
