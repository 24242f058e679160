package dev.gateway.filter.errorpages;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a client accepts: the media types of its {@code Accept}, with their weights (RFC 9110, section 12.5.1). */
final class AcceptedTypes {
    private static final int MOST = 32; // browsers send fewer than ten
    private static final int MOST_PARAMETERS = 8; // of a type; the weight comes after few others
    private static final int FULL = 1_000; // thousandths
    private static final Pattern WEIGHT = Pattern.compile("\\s{0,8}[qQ]=([01](?:\\.[0-9]{0,3})?)\\s{0,8}");
    private static final String ALL = "*/*";

    private final List<Range> ranges; // empty for a client that says nothing

    private record Range(String type, int thousandths) {}

    private AcceptedTypes(List<Range> ranges) {
        this.ranges = ranges;
    }

    /** Reads what a request says. */
    static AcceptedTypes of(@Nullable RequestHead request) {
        List<Range> ranges = new ArrayList<>();
        if (request != null) {
            Fields fields = request.fields();
            for (int i = fields.find(FieldName.ACCEPT, 0); i >= 0; i = fields.find(FieldName.ACCEPT, i + 1)) {
                read(fields.value(i).toString(), ranges);
            }
        }
        return new AcceptedTypes(ranges);
    }

    private static void read(String value, List<Range> ranges) {
        int start = 0;
        while (start <= value.length() && ranges.size() < MOST) {
            int comma = value.indexOf(',', start);
            int end = comma < 0 ? value.length() : comma;
            String element = value.substring(start, end);
            int semicolon = element.indexOf(';');
            String type = (semicolon < 0 ? element : element.substring(0, semicolon)).strip();
            if (!type.isEmpty()) {
                int weight = semicolon < 0 ? FULL : weight(element.substring(semicolon + 1));
                ranges.add(new Range(type.toLowerCase(Locale.ROOT), weight));
            }
            start = end + 1;
        }
    }

    /** Returns the weight among the parameters of a media type; the others do not matter. */
    private static int weight(String parameters) {
        int start = 0;
        for (int i = 0; i < MOST_PARAMETERS && start <= parameters.length(); i++) {
            int semicolon = parameters.indexOf(';', start);
            int end = semicolon < 0 ? parameters.length() : semicolon;
            Matcher weight = WEIGHT.matcher(parameters).region(start, end);
            if (weight.matches()) {
                return Math.min(FULL, (int) Math.round(Double.parseDouble(weight.group(1)) * FULL));
            }
            start = end + 1;
        }
        return FULL;
    }

    /**
     * Returns the client's preference for the best of some types, to be compared with others; 0 if it accepts none of them.
     * Among types of the same weight, an exact type comes before a range.
     */
    int rank(List<String> types) {
        int best = 0;
        for (String type : types) {
            best = Math.max(best, rank(type));
        }
        return best;
    }

    private int rank(String type) {
        if (ranges.isEmpty()) {
            return 1;
        }
        int exactness = 0;
        int thousandths = 0;
        for (Range range : ranges) {
            int exact = exactness(range.type, type);
            if (exact > exactness) {
                exactness = exact;
                thousandths = range.thousandths;
            }
        }
        return thousandths == 0 ? 0 : thousandths * 4 + exactness;
    }

    /** Returns 0 if the range does not have the type. */
    private static int exactness(String range, String type) {
        if (range.equals(type)) {
            return 3;
        }
        if (range.equals(ALL)) {
            return 1;
        }
        return range.endsWith("/*") && type.startsWith(range.substring(0, range.length() - 1)) ? 2 : 0;
    }
}
