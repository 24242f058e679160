package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientHelloTest {
    // Alerts (RFC 8446, section 6)
    private static final int UNEXPECTED_MESSAGE = 10;
    private static final int RECORD_OVERFLOW = 22;
    private static final int ILLEGAL_PARAMETER = 47;
    private static final int DECODE_ERROR = 50;
    private static final int PROTOCOL_VERSION = 70;
    private static final int UNRECOGNIZED_NAME = 112;

    private static ClientHello.Reading read(byte[] bytes) {
        ByteBuf buffer = Unpooled.wrappedBuffer(bytes);
        ClientHello.Reading reading = ClientHello.read(buffer);
        assertThat(buffer.readableBytes()).isEqualTo(bytes.length);
        return reading;
    }

    private static void assertHello(byte[] bytes, @Nullable String serverName) {
        assertThat(read(bytes)).isInstanceOfSatisfying(ClientHello.Hello.class, hello -> assertThat(hello.serverName())
                .isEqualTo(serverName));
    }

    private static void assertIncomplete(byte[] bytes) {
        assertThat(read(bytes)).isInstanceOf(ClientHello.Incomplete.class);
    }

    private static void assertRefused(byte[] bytes) {
        assertThat(read(bytes)).isInstanceOf(ClientHello.Refused.class);
    }

    private static void assertRefused(int alert, byte[] bytes) {
        assertThat(read(bytes)).isInstanceOfSatisfying(ClientHello.Refused.class, found -> assertThat(found.alert())
                .as(found.reason())
                .isEqualTo(alert));
    }

    /** What the JDK's TLS says first. */
    private static byte[] jdk(@Nullable String serverName) throws GeneralSecurityException, SSLException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, null, null);
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(true);
        if (serverName != null) {
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setServerNames(List.of(new SNIHostName(serverName)));
            engine.setSSLParameters(parameters);
        }
        ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    // ---- hellos put together by hand

    private static byte[] bytes(Object... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Object part : parts) {
            if (part instanceof Integer number) {
                all.write(number);
            } else if (part instanceof String text) {
                all.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
            } else {
                all.writeBytes((byte[]) part);
            }
        }
        return all.toByteArray();
    }

    private static byte[] sized(int lengthBytes, byte[] content) {
        byte[] all = new byte[lengthBytes + content.length];
        for (int i = 0; i < lengthBytes; i++) {
            all[i] = (byte) (content.length >> (8 * (lengthBytes - 1 - i)));
        }
        System.arraycopy(content, 0, all, lengthBytes, content.length);
        return all;
    }

    private static byte[] extension(int type, byte[] content) {
        return bytes(type >> 8, type & 0xff, sized(2, content));
    }

    private static byte[] sni(String name) {
        return extension(0, sized(2, bytes(0, sized(2, bytes(name)))));
    }

    private static byte[] body(byte[] extensions) {
        return bytes(
                3,
                3,
                new byte[32],
                sized(1, new byte[32]),
                sized(2, bytes(0x13, 1, 0x13, 2)),
                sized(1, bytes(0)),
                extensions);
    }

    private static byte[] message(byte[] body) {
        return bytes(1, sized(3, body));
    }

    private static byte[] record(byte[] content) {
        return bytes(22, 3, 1, sized(2, content));
    }

    private static byte[] hello(byte[]... extensions) {
        return record(message(body(sized(2, bytes((Object[]) extensions)))));
    }

    private static byte[] inRecordsOf(int size, byte[] message) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < message.length; i += size) {
            all.writeBytes(record(Arrays.copyOfRange(message, i, Math.min(message.length, i + size))));
        }
        return all.toByteArray();
    }

    @Test
    void theNameThatARealClientAsksForIsRead() throws Exception {
        assertHello(jdk("www.example.com"), "www.example.com");
        assertHello(jdk(null), null);
    }

    @Test
    void aHelloIsReadHoweverItIsSplit() throws Exception {
        byte[] whole = jdk("www.example.com");
        byte[] message = Arrays.copyOfRange(whole, 5, whole.length);
        for (int size : new int[] {1, 2, 3, 4, 5, 7, 64, 200}) {
            byte[] split = inRecordsOf(size, message);
            for (int end = 0; end < split.length; end++) {
                assertIncomplete(Arrays.copyOf(split, end));
            }
            assertHello(split, "www.example.com");
        }
    }

    @Test
    void whatFollowsAHelloDoesNotMatter() {
        byte[] hello = hello(sni("a.example"));
        byte[] sameRecord = record(bytes(message(body(sized(2, sni("a.example")))), 99, 99));

        assertHello(bytes(hello, 23, 3, 3, 0, 5, "early"), "a.example");
        assertHello(sameRecord, "a.example");
    }

    @ParameterizedTest
    @CsvSource({"WWW.Example.COM, www.example.com", "example.com., example.com", "127.0.0.1, 127.0.0.1", "a_b.c, a_b.c"
    })
    void namesAreInLowerCaseWithoutADotAtTheirEnd(String asked, String read) {
        assertHello(hello(extension(43, bytes(2, 3, 4)), sni(asked), extension(0xfe0d, new byte[40])), read);
    }

    @Test
    void aHelloNeedHaveNoExtensions() {
        assertHello(record(message(body(new byte[0]))), null);
        assertHello(hello(), null);
        assertHello(hello(extension(43, bytes(2, 3, 4))), null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\n",
                "SSH-2.0-x\r\n",
                "\u0015\u0002\u0001",
                "\u0013\u0003\u0001",
                "\u0019\u0003\u0001",
                "\u0080.\u0002\u0003\u0001",
                "\u0000"
            })
    void otherProtocolsAreNotTls(String first) {
        assertRefused(0, bytes(first)); // without an alert
    }

    @Test
    void anotherVersionIsRefused() {
        assertRefused(PROTOCOL_VERSION, bytes(22, 2, 1));
        assertRefused(PROTOCOL_VERSION, bytes(0x80, 0x2e, 1, 0, 2)); // in the format of SSL 2.0
        assertRefused(PROTOCOL_VERSION, bytes(0x80, 0x2e, 1, 3, 1)); // the same, which offers TLS
    }

    /** BoringSSL would ignore an alert that only warns, and take the hello behind it. */
    @ParameterizedTest
    @ValueSource(ints = {20, 21, 23, 24})
    void noOtherRecordMayComeBeforeAHello(int type) {
        assertIncomplete(bytes(type));
        assertRefused(UNEXPECTED_MESSAGE, bytes(type, 3));
        assertRefused(UNEXPECTED_MESSAGE, bytes(type, 3, 1, 0, 2, 1, 90, hello(sni("a.example"))));
    }

    @Test
    void nothingIsSaidOfNothing() {
        assertIncomplete(new byte[0]);
        assertIncomplete(bytes(22));
        assertIncomplete(bytes(22, 3, 1, 0));
        assertIncomplete(bytes(0x80, 0x2e));
    }

    @Test
    void aRecordOfNoOrTooManyBytesIsRefused() {
        assertRefused(UNEXPECTED_MESSAGE, bytes(22, 3, 1, 0, 0));
        assertRefused(UNEXPECTED_MESSAGE, bytes(22, 3, 1, 0, 0, hello()));
        assertRefused(RECORD_OVERFLOW, bytes(22, 3, 1, 0x40, 1));
    }

    @Test
    void anotherMessageThanAHelloIsRefused() {
        assertRefused(UNEXPECTED_MESSAGE, record(bytes(2, sized(3, new byte[40]))));
    }

    @Test
    void nothingMayComeBetweenThePartsOfAHello() {
        byte[] parts = inRecordsOf(30, message(body(sized(2, sni("a.example")))));

        assertRefused(
                UNEXPECTED_MESSAGE,
                bytes(Arrays.copyOf(parts, 35), 21, 3, 3, 0, 2, 1, 0, Arrays.copyOfRange(parts, 35, parts.length)));
        assertRefused(UNEXPECTED_MESSAGE, bytes(Arrays.copyOf(parts, 35), "GET"));
    }

    @Test
    void whatIsTooLongIsRefusedBeforeItIsThere() {
        byte[] large = message(body(sized(2, extension(21, new byte[ClientHello.MAX_BYTES]))));
        byte[] tinyRecords = inRecordsOf(1, message(body(sized(2, extension(21, new byte[4000])))));

        assertRefused(Arrays.copyOf(record(Arrays.copyOf(large, 1000)), 9));
        assertRefused(Arrays.copyOf(tinyRecords, ClientHello.MAX_BYTES + 6));
        assertHello(hello(extension(21, new byte[ClientHello.MAX_BYTES - 200]), sni("a.example")), "a.example");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "a\u0000b", "a b", ".", "..", ".a.example", "a..example", "a.example..", "\u00e9.example"})
    void aNameThatIsNoneIsNotRecognized(String name) {
        assertRefused(UNRECOGNIZED_NAME, hello(sni(name)));
    }

    @Test
    void aNameThatIsTooLongOrOfAnotherKindIsNotRecognized() {
        assertRefused(UNRECOGNIZED_NAME, hello(sni("a".repeat(256))));
        assertRefused(UNRECOGNIZED_NAME, hello(extension(0, sized(2, bytes(1, sized(2, bytes("a")))))));
    }

    /** RFC 6066, section 3: a list of one name or more, and one of each kind. */
    @Test
    void aListOfNamesThatIsMalformedCannotBeDecoded() {
        assertRefused(DECODE_ERROR, hello(extension(0, new byte[0])));
        assertRefused(DECODE_ERROR, hello(extension(0, bytes(0))));
        assertRefused(DECODE_ERROR, hello(extension(0, bytes(0, 0))));
        assertRefused(DECODE_ERROR, hello(extension(0, sized(2, bytes(0)))));
        assertRefused(DECODE_ERROR, hello(extension(0, sized(2, bytes(0, 0, 9, "a")))));
        assertRefused(DECODE_ERROR, hello(extension(0, bytes(0, 5, 0, 0, 1, "a"))));
        assertRefused(DECODE_ERROR, hello(extension(0, bytes(0, 3, 0, 0, 1, "a"))));
        assertRefused(
                DECODE_ERROR, hello(extension(0, sized(2, bytes(0, sized(2, bytes("a")), 0, sized(2, bytes("b")))))));
    }

    @Test
    void aListOfProtocolsThatIsMalformedCannotBeDecoded() {
        assertRefused(DECODE_ERROR, hello(extension(16, new byte[0])));
        assertRefused(DECODE_ERROR, hello(extension(16, bytes(0, 0))));
        assertRefused(DECODE_ERROR, hello(extension(16, sized(2, bytes(0)))));
        assertRefused(DECODE_ERROR, hello(extension(16, sized(2, bytes(3, "h2")))));
        assertRefused(DECODE_ERROR, hello(extension(16, bytes(0, 4, 2, "h2"))));
    }

    @Test
    void aMalformedHelloCannotBeDecoded() {
        assertRefused(DECODE_ERROR, hello(bytes(0, 0, 0, 50, 1)));
        assertRefused(DECODE_ERROR, record(message(body(bytes(0, 1)))));
        assertRefused(DECODE_ERROR, record(message(body(bytes(sized(2, sni("a")), 0)))));
        assertRefused(DECODE_ERROR, record(message(new byte[10])));
        assertRefused(DECODE_ERROR, record(message(bytes(3, 3, new byte[32], 33, new byte[5]))));
    }

    /** RFC 8446, section 4.2 */
    @Test
    void noExtensionMayBeThereTwice() {
        byte[] protocols = extension(16, sized(2, bytes(2, "h2")));
        assertRefused(ILLEGAL_PARAMETER, hello(sni("a.example"), sni("a.example")));
        assertRefused(ILLEGAL_PARAMETER, hello(protocols, sni("a.example"), protocols));
        assertRefused(ILLEGAL_PARAMETER, hello(extension(43, bytes(2, 3, 4)), extension(43, bytes(2, 3, 3))));
    }

    /** No input makes it read outside of what is there, or change its mind about what it has said. */
    @Test
    void anyBytesAreReadToSomeEnd() throws Exception {
        Random random = new Random(3);
        byte[] real = jdk("www.example.com");
        for (int i = 0; i < 20_000; i++) {
            byte[] mutated = real.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                mutated[random.nextInt(random.nextBoolean() ? 60 : mutated.length)] = (byte) random.nextInt(256);
            }
            byte[] cut = Arrays.copyOf(mutated, random.nextInt(mutated.length + 1));
            ClientHello.Reading first = read(cut);
            if (!(first instanceof ClientHello.Incomplete)) {
                assertThat(read(mutated)).isEqualTo(first);
            }
        }
    }
}
