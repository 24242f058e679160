package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldsTest {
    private static final FieldName TIER = FieldName.of("x-tier");

    /** Indexes lines as a parser does, whatever white space is around values and whatever ends lines. */
    private static Fields parsed(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        Fields fields = new Fields(bytes, bytes.length, 1);
        int start = 0;
        while (start < bytes.length) {
            int colon = text.indexOf(':', start);
            int lineEnd = text.indexOf('\n', start);
            int valueStart = colon + 1;
            int valueEnd = lineEnd > start && bytes[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd;
            while (valueStart < valueEnd && bytes[valueStart] == ' ') {
                valueStart++;
            }
            while (valueEnd > valueStart && bytes[valueEnd - 1] == ' ') {
                valueEnd--;
            }
            int length = colon - start;
            int id = FieldName.idOf(bytes, start, length);
            fields.addParsed(start, length, id, valueStart, valueEnd - valueStart);
            start = lineEnd + 1;
        }
        return fields;
    }

    private static String wire(Fields fields) {
        ByteBuf out = Unpooled.buffer();
        fields.writeTo(out);
        assertThat(out.readableBytes()).isEqualTo(fields.wireLength());
        String text = out.toString(StandardCharsets.ISO_8859_1);
        out.release();
        return text;
    }

    @Test
    void uneditedLinesAreForwardedByteByByte() {
        String lines = "Host: a\r\nx-ODD-Case: 1\r\nAccept: */*\r\nX-Empty: \r\n";

        assertThat(wire(parsed(lines))).isEqualTo(lines);
    }

    @Test
    void aCopyIsEditedByItself() {
        String lines = "Host: a\r\nX-Tier: 1\r\n";
        Fields fields = parsed(lines);
        fields.add(TIER, "2");
        Fields copy = fields.copy();
        assertThat(wire(copy)).isEqualTo(wire(fields));
        assertThat(copy.contains(FieldName.HOST)).isTrue();
        copy.remove(FieldName.HOST);
        copy.set(TIER, "3");
        fields.add(TIER, "4");
        assertThat(wire(fields)).isEqualTo(lines + "x-tier: 2\r\nx-tier: 4\r\n");
        assertThat(wire(copy)).isEqualTo("x-tier: 3\r\n");
        assertThat(wire(new Fields().copy())).isEmpty();
        assertThat(Fields.none().copy().size()).isZero();
    }

    @Test
    void linesInOtherFormsAreForwardedInCanonicalForm() {
        assertThat(wire(parsed("a:1\r\nB:   2  \r\nC: 3\nd: 4\r\ne:\r\n")))
                .isEqualTo("a: 1\r\nB: 2\r\nC: 3\r\nd: 4\r\ne: \r\n");
    }

    @Test
    void aRequestLineBeforeTheFieldsIsNotForwardedWithThem() {
        byte[] bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        Fields fields = new Fields(bytes, bytes.length, 1);
        fields.addParsed(16, 4, FieldName.HOST.id(), 22, 1);

        assertThat(wire(fields)).isEqualTo("Host: a\r\n");
    }

    @Test
    void editsKeepTheOrderOfAllOthers() {
        Fields fields = parsed("Host: a\r\nX-Tier: gold\r\nAccept: */*\r\nx-tier: silver\r\nVia: 1.1 p\r\n");

        fields.set(TIER, "none");
        fields.remove(FieldName.HOST);
        fields.add(FieldName.VIA, "1.1 gateway");

        assertThat(wire(fields)).isEqualTo("Accept: */*\r\nVia: 1.1 p\r\nx-tier: none\r\nVia: 1.1 gateway\r\n");
    }

    @Test
    void removingTellsWhetherSomethingWasThere() {
        Fields fields = parsed("Host: a\r\nX-Other: 1\r\n");

        assertThat(fields.remove(FieldName.ACCEPT)).isFalse();
        assertThat(fields.remove(TIER)).isFalse();
        assertThat(fields.remove(FieldName.HOST)).isTrue();
        assertThat(fields.remove(FieldName.HOST)).isFalse();
        assertThat(fields.remove(FieldName.of("x-OTHER"))).isTrue();
        assertThat(fields.size()).isZero();
        assertThat(wire(fields)).isEmpty();
    }

    @Test
    void namesAreFoundWhateverTheirCase() {
        Fields fields = parsed("hOsT: a\r\nX-TIER: gold\r\n");

        assertThatObject(fields.first(FieldName.HOST)).isEqualTo(new AsciiString("a"));
        assertThatObject(fields.first(TIER)).isEqualTo(new AsciiString("gold"));
        assertThat(fields.contains(FieldName.of("x-tie"))).isFalse();
        assertThatObject(fields.lowerName(0)).isEqualTo(new AsciiString("host"));
        assertThatObject(fields.lowerName(1)).isEqualTo(new AsciiString("x-tier"));
        assertThatObject(fields.name(1)).isEqualTo(new AsciiString("X-TIER"));
    }

    @Test
    void everyValueOfARepeatedNameIsFoundInOrder() {
        Fields fields = parsed("Cookie: a=1\r\nHost: h\r\ncookie: b=2\r\n");

        int first = fields.find(FieldName.COOKIE, 0);
        int second = fields.find(FieldName.COOKIE, first + 1);

        assertThatObject(fields.value(first)).isEqualTo(new AsciiString("a=1"));
        assertThatObject(fields.value(second)).isEqualTo(new AsciiString("b=2"));
        assertThat(fields.find(FieldName.COOKIE, second + 1)).isEqualTo(-1);
    }

    @Test
    void viewsStayValidWhenTheTableGrows() {
        Fields fields = new Fields();
        fields.add(FieldName.HOST, "example.com");
        AsciiString host = fields.value(0);
        AsciiString name = fields.name(0);

        for (int i = 0; i < 100; i++) {
            fields.add(FieldName.of("x-" + i), "value " + i);
        }
        fields.set(FieldName.HOST, "other");

        assertThatObject(host).isEqualTo(new AsciiString("example.com"));
        assertThatObject(name).isEqualTo(new AsciiString("Host"));
        assertThat(fields.size()).isEqualTo(101);
        assertThatObject(fields.value(fields.find(FieldName.of("x-57"), 0))).isEqualTo(new AsciiString("value 57"));
    }

    @Test
    void aFieldCanBeSetToAViewOfItself() {
        Fields fields = parsed("X-Tier: gold, silver\r\n");
        AsciiString value = fields.value(0);

        fields.set(TIER, value.subSequence(6, 12, false));

        assertThat(wire(fields)).isEqualTo("x-tier: silver\r\n");
    }

    @Test
    void namesFromHpackGetTheirKnownIds() {
        Fields fields = new Fields();
        fields.add(new AsciiString("content-type"), new AsciiString("text/plain"));
        fields.add(new AsciiString("x-tier"), "gold");

        assertThat(fields.id(0)).isEqualTo(FieldName.CONTENT_TYPE.id());
        assertThat(fields.id(1)).isZero();
        assertThatObject(fields.first(TIER)).isEqualTo(new AsciiString("gold"));
    }

    @Test
    void aValueIsComparedWithoutAView() {
        Fields fields = parsed("X-Tier:  gold\r\n");

        assertThat(fields.valueEquals(0, new AsciiString("gold"))).isTrue();
        assertThat(fields.valueEquals(0, new AsciiString("Gold"))).isFalse();
        assertThat(fields.valueEquals(0, new AsciiString("golden"))).isFalse();
    }

    @Test
    void elementsOfListsAreFoundInAnyLine() {
        Fields fields = parsed("TE: deflate;q=0.5 ,, Trailers\r\nte: x\r\n");

        assertThat(fields.hasElement(FieldName.TE, new AsciiString("trailers"))).isTrue();
        assertThat(fields.hasElement(FieldName.TE, new AsciiString("x"))).isTrue();
        assertThat(fields.hasElement(FieldName.TE, new AsciiString("deflate"))).isFalse();
        assertThat(fields.hasElement(FieldName.CONNECTION, new AsciiString("x")))
                .isFalse();
    }

    @Test
    void removingKnownNamesTogetherLeavesTheRest() {
        Fields fields = parsed("A: 1\r\nTE: x\r\nHost: h\r\nUpgrade: u\r\nte: y\r\nB: 2\r\n");

        fields.removeKnown(1L << FieldName.TE.id() | 1L << FieldName.UPGRADE.id());

        assertThat(wire(fields)).isEqualTo("A: 1\r\nHost: h\r\nB: 2\r\n");
        assertThat(fields.contains(FieldName.TE)).isFalse();
    }

    @Test
    void anySequenceOfEditsGivesWhatAListOfLinesWouldGive() {
        Random random = new Random(42);
        String[] names = {"Host", "Accept", "X-Tier", "x-other", "Via", "Cookie"};
        for (int round = 0; round < 500; round++) {
            List<String[]> model = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) {
                String[] line = {names[random.nextInt(names.length)], "v" + random.nextInt(100)};
                model.add(line);
                text.append(line[0]).append(random.nextInt(4) == 0 ? ":" : ": ").append(line[1]);
                text.append(random.nextInt(4) == 0 ? " \r\n" : "\r\n");
            }
            Fields fields = parsed(text.toString());
            for (int i = random.nextInt(10); i > 0; i--) {
                FieldName name = FieldName.of(names[random.nextInt(names.length)].toLowerCase(Locale.ROOT));
                String canonical = name.canonical().toString();
                String value = "n" + random.nextInt(100);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        fields.add(name, value);
                        model.add(new String[] {canonical, value});
                    }
                    case 1 -> {
                        fields.set(name, value);
                        model.removeIf(line -> line[0].equalsIgnoreCase(canonical));
                        model.add(new String[] {canonical, value});
                    }
                    case 2 -> {
                        fields.remove(name);
                        model.removeIf(line -> line[0].equalsIgnoreCase(canonical));
                    }
                    default -> {
                        if (!model.isEmpty()) {
                            int position = random.nextInt(model.size());
                            fields.removeAt(position);
                            model.remove(position);
                        }
                    }
                }
            }
            StringBuilder expected = new StringBuilder();
            model.forEach(line ->
                    expected.append(line[0]).append(": ").append(line[1]).append("\r\n"));
            assertThat(wire(fields)).isEqualTo(expected.toString());
            for (String name : names) {
                boolean there = model.stream().anyMatch(line -> line[0].equalsIgnoreCase(name));
                assertThat(fields.contains(FieldName.of(name))).isEqualTo(there);
            }
        }
    }

    @Test
    void aTableWithoutRoomTakesFieldsAllTheSame() {
        Fields fields = Fields.none();
        assertThat(fields.size()).isZero();
        assertThat(fields.remove(FieldName.VIA)).isFalse();
        for (int i = 0; i < 20; i++) {
            fields.add(FieldName.VIA, "1.1 p" + i);
        }
        assertThat(fields.size()).isEqualTo(20);
        assertThat((CharSequence) fields.value(19)).hasToString("1.1 p19");
        assertThat(Fields.none().size()).isZero();
    }

    @Test
    void aTrimmedTableIsTheSame() {
        Fields fields = new Fields();
        fields.trim();
        fields.add(FieldName.VIA, "1.1 p");
        fields.add(FieldName.ACCEPT, "text/html");
        fields.trim();
        assertThat(wire(fields)).isEqualTo("Via: 1.1 p\r\nAccept: text/html\r\n");
        fields.set(FieldName.VIA, "1.1 q");
        fields.add(FieldName.VIA, "1.1 r");
        assertThat(wire(fields)).isEqualTo("Accept: text/html\r\nVia: 1.1 q\r\nVia: 1.1 r\r\n");
    }

    @Test
    void elementsAreCountedInAllLines() {
        Fields fields = parsed("Connection: a\r\nHost: a,b\r\nConnection: \r\nConnection: ,b, c,\r\n");

        assertThat(fields.countElements(FieldName.CONNECTION)).isEqualTo(1 + 1 + 4);
        assertThat(fields.countElements(FieldName.HOST)).isEqualTo(2);
        assertThat(fields.countElements(FieldName.ACCEPT)).isZero();
    }

    @Test
    void elementsAreFoundBetweenSpacesAndTabs() {
        Fields fields = parsed("Connection:\t a \t,\tbb,,  \t,c \r\n");

        for (String element : List.of("a", "bb", "c", "")) {
            assertThat(fields.hasElement(FieldName.CONNECTION, new AsciiString(element)))
                    .as(element)
                    .isTrue();
        }
        assertThat(fields.hasElement(FieldName.CONNECTION, new AsciiString("b")))
                .isFalse();
        assertThat(parsed("Connection: a\r\n").hasElement(FieldName.CONNECTION, new AsciiString("")))
                .isFalse();
        assertThat(parsed("Connection: x,\t\r\n").hasElement(FieldName.CONNECTION, new AsciiString("")))
                .as("a last one of white space")
                .isTrue();
    }

    @Test
    void itTellsHowMuchHeapItTakes() {
        Fields fields = new Fields(new byte[1000], 0, 5);
        int empty = fields.heldBytes();
        assertThat(empty).isBetween(1000 + 5 * 16, 1000 + 5 * 16 + 128);

        for (int i = 0; i < 6; i++) {
            fields.add(TIER, "gold");
        }
        assertThat(fields.heldBytes() - empty).as("room for five more fields").isEqualTo(5 * 16);
        fields.trim();
        assertThat(fields.heldBytes() - empty).as("room for one more field").isEqualTo(16);
        fields.trim();
        assertThat(fields.heldBytes() - empty).isEqualTo(16);
        assertThat(fields.size()).isEqualTo(6);
    }

    @Test
    void aLargeTableGrowsByAQuarter() {
        Fields small = new Fields(new byte[1000], 0, 1);
        small.add(TIER, "x".repeat(1000));
        assertThat(small.array()).hasSize(2000);

        Fields large = new Fields(new byte[8000], 0, 1);
        large.add(TIER, "x".repeat(8000));
        assertThat(large.array()).hasSize(10_000);
        large.add(TIER, "x".repeat(9000));
        assertThat(large.array().length).as("as much as is needed").isEqualTo(8000 + 9000 + 2 * (6 + 4));
    }

    @Test
    void aLineThatLacksOneByteOfTheCanonicalFormIsWrittenAnew() {
        for (String line :
                List.of("X-Tier:  a\r\n", "X-Tier:a\r\n", "X-Tier: a\n", "X-Tier:\ta\r\n", "X-Tier: a\t\r\n")) {
            Fields fields = new Fields(line.getBytes(StandardCharsets.ISO_8859_1), line.length(), 1);
            fields.addParsed(0, 6, 0, line.indexOf('a'), 1);
            assertThat(wire(fields)).as(line).isEqualTo("X-Tier: a\r\n");
        }
    }

    /** The request's path is a view of it. */
    @Test
    void aParsersArrayCountsThoughTheTableHasOutgrownIt() {
        Fields fields = new Fields(new byte[10_000], 10_000, 1);
        int before = fields.heldBytes();
        fields.add(FieldName.VIA, "1.1 gateway");
        assertThat(fields.heldBytes()).isGreaterThan(before + 10_000);
        Fields own = new Fields();
        own.add(FieldName.VIA, "x".repeat(10_000));
        assertThat(own.heldBytes()).isLessThan(11_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 10, 443, 65535, Long.MAX_VALUE})
    void aNumberReplacesWhatWasThere(long number) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_LENGTH, "1");
        fields.add(FieldName.HOST, "a.example");
        fields.set(FieldName.CONTENT_LENGTH, number);
        assertThat(fields.size()).isEqualTo(2);
        assertThat(fields.value(1).toString()).isEqualTo(Long.toString(number));
        ByteBuf out = Unpooled.buffer();
        fields.writeTo(out);
        String line = "Content-Length: " + number + "\r\n";
        assertThat(out.toString(StandardCharsets.US_ASCII)).endsWith("example\r\n" + line);
        out.clear();
        Fields grown = Fields.none();
        grown.set(FieldName.CONTENT_LENGTH, number);
        grown.writeTo(out);
        assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo(line);
    }
}
