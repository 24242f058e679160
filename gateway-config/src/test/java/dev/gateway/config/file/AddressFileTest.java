package dev.gateway.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.format.CidrSet;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressFileTest {
    private static final Path FILE = Path.of("/etc/blocked");

    @Test
    void eachLineIsAnAddressOrABlockAndCommentsSayNothing() throws Exception {
        CidrSet set = AddressFile.parse(
                FILE,
                "\ufeff# offices\r\n10.1.0.0/16 # Paris\r\n\r\n  192.0.2.7\n2001:db8::/32\n::ffff:198.51.100.0/24\n");

        assertThat(set.contains(InetAddress.getByName("10.1.255.255"))).isTrue();
        assertThat(set.contains(InetAddress.getByName("192.0.2.7"))).isTrue();
        assertThat(set.contains(InetAddress.getByName("192.0.2.8"))).isFalse();
        assertThat(set.contains(InetAddress.getByName("2001:db8::1"))).isTrue();
        assertThat(set.contains(InetAddress.getByName("198.51.100.9"))).isTrue();
    }

    @Test
    void aFileWithoutAddressesHoldsNone() throws Exception {
        assertThat(AddressFile.parse(FILE, "# nobody\n").isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.0.0.0/8\\n  office.example  # x|2:3|office.example",
                "10.0.0.0/33|1:1|10.0.0.0/33",
                "# a\\n\\n010.0.0.1|3:1|010.0.0.1",
                "10.0.0.1 10.0.0.2|1:1|10.0.0.1 10.0.0.2",
                "a\u0007\u009b2J|1:1|a??2J"
            })
    void aLineThatIsNeitherIsToldWithItsPlace(String text, String place, String shown) {
        assertThatThrownBy(() -> AddressFile.parse(FILE, text.replace("\\n", "\n")))
                .isInstanceOf(IOException.class)
                .hasMessage("/etc/blocked:" + place
                        + ": expected an IP address or a block such as 10.0.0.0/8 or fd00::/8, not '" + shown + "'");
    }

    @Test
    void aFileThatIsTooLargeIsRefusedUnread(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("list"), new byte[(AddressFile.MAX_MEBIBYTES << 20) + 1]);
        assertThatThrownBy(() -> AddressFile.read(file)).hasMessage(file + " is larger than 4 MiB");
    }
}
