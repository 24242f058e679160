package dev.gateway.filter.compression;

import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Content negotiation: ranks codings by {@code Accept-Encoding} (RFC 9110, section 12.5.3). No state. */
final class AcceptEncoding {
    private static final AsciiString ANY = new AsciiString("*");
    private static final AsciiString IDENTITY = new AsciiString("identity");
    private static final int MOST = 1000; // weights are in thousandths
    private static final int UNSAID = -1;

    // Positions in the array of weights; those of the offered codings follow.
    private static final int ANY_AT = 0;
    private static final int IDENTITY_AT = 1;
    private static final int OFFERED_AT = 2;

    private AcceptEncoding() {}

    /**
     * Returns the codings that the client accepts and likes no less than none: by weight, and in the offered order among
     * equals.
     *
     * @param offered codings, the preferred one first
     */
    static List<ContentCoding> rank(Fields fields, List<ContentCoding> offered) {
        int at = fields.find(FieldName.ACCEPT_ENCODING, 0);
        if (at < 0) {
            return List.of(); // the client accepts any coding, but a client without this field can seldom decode one
        }
        int[] weights = new int[OFFERED_AT + offered.size()];
        Arrays.fill(weights, UNSAID);
        for (; at >= 0; at = fields.find(FieldName.ACCEPT_ENCODING, at + 1)) {
            readList(fields.value(at), offered, weights);
        }
        List<ContentCoding> ranked = new ArrayList<>(offered.size());
        int least = Math.max(1, weights[IDENTITY_AT]);
        for (ContentCoding coding : offered) {
            int weight = weight(coding, offered, weights);
            if (weight >= least) {
                int place = ranked.size();
                while (place > 0 && weight > weight(ranked.get(place - 1), offered, weights)) {
                    place--;
                }
                ranked.add(place, coding);
            }
        }
        return ranked;
    }

    private static int weight(ContentCoding coding, List<ContentCoding> offered, int[] weights) {
        int said = weights[OFFERED_AT + offered.indexOf(coding)];
        return said == UNSAID ? weights[ANY_AT] : said;
    }

    private static void readList(AsciiString value, List<ContentCoding> offered, int[] weights) {
        int start = 0;
        while (start < value.length()) {
            int comma = value.indexOf(',', start);
            int end = comma < 0 ? value.length() : comma;
            readElement(value.subSequence(start, end, false), offered, weights);
            start = end + 1;
        }
    }

    /** A malformed weight counts as 0. */
    private static void readElement(AsciiString element, List<ContentCoding> offered, int[] weights) {
        int semicolon = element.indexOf(';', 0);
        AsciiString name = Ascii.trim(semicolon < 0 ? element : element.subSequence(0, semicolon, false));
        int at = index(name, offered);
        if (at >= 0) {
            weights[at] = semicolon < 0
                    ? MOST
                    : weight(Ascii.trim(element.subSequence(semicolon + 1, element.length(), false)));
        }
    }

    private static int index(AsciiString name, List<ContentCoding> offered) {
        if (name.contentEquals(ANY)) {
            return ANY_AT;
        } else if (name.contentEqualsIgnoreCase(IDENTITY)) {
            return IDENTITY_AT;
        }
        ContentCoding coding = ContentCoding.of(name);
        int place = coding == null ? -1 : offered.indexOf(coding);
        return place < 0 ? UNSAID : OFFERED_AT + place;
    }

    /** Reads {@code q=0.5}: up to three decimals (RFC 9110, section 12.4.2). */
    private static int weight(AsciiString text) {
        boolean named = text.length() >= 3 && (text.byteAt(0) | 0x20) == 'q' && text.byteAt(1) == '=';
        int whole = named ? text.byteAt(2) - '0' : UNSAID;
        if (whole < 0 || whole > 1 || text.length() > 7 || (text.length() > 3 && text.byteAt(3) != '.')) {
            return 0;
        }
        int weight = whole * MOST;
        int unit = MOST / 10;
        for (int i = 4; i < text.length(); i++, unit /= 10) {
            int digit = text.byteAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return 0;
            }
            weight += digit * unit;
        }
        return weight > MOST ? 0 : weight;
    }
}
