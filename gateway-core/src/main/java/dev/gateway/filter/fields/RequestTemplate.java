package dev.gateway.filter.fields;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.RequestWord;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldText;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Request template: the value of a header field with words in braces, such as <code>{client}</code>, that stand for what is
 * known of the request, in UTF-8. A word that no field can say as it is leaves the field out. Other braces stand for
 * themselves, since values may be JSON. Immutable.
 */
final class RequestTemplate implements FieldValue {
    private final String text;
    private final List<Object> parts; // an AsciiString, or a RequestWord

    private RequestTemplate(String text, List<Object> parts) {
        this.text = text;
        this.parts = parts;
    }

    /** Takes a text apart; null if it has no words. */
    static @Nullable RequestTemplate of(String text) {
        List<Object> parts = new ArrayList<>();
        int from = 0; // of what stands for itself
        for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', open + 1)) {
            int close = text.indexOf('}', open);
            RequestWord word = close < 0 ? null : RequestWord.of(text.substring(open + 1, close));
            if (word != null) {
                parts.add(utf8(text.substring(from, open)));
                parts.add(word);
                from = close + 1;
            }
        }
        if (parts.isEmpty()) {
            return null;
        }
        parts.add(utf8(text.substring(from)));
        return new RequestTemplate(text, parts);
    }

    @Override
    public AsciiString get() {
        return utf8(text);
    }

    private static AsciiString utf8(String text) {
        return new AsciiString(text.getBytes(StandardCharsets.UTF_8), false);
    }

    @Override
    public @Nullable AsciiString get(FilterContext context) {
        AsciiString value = AsciiString.EMPTY_STRING;
        for (Object part : parts) {
            AsciiString text;
            if (part instanceof RequestWord word) {
                CharSequence said = context.word(word);
                text = said.isEmpty() ? AsciiString.EMPTY_STRING : FieldText.of(said);
            } else {
                text = (AsciiString) part;
            }
            if (text == null) {
                return null; // the field would say something else
            }
            value = value.concat(text);
        }
        AsciiString all = Ascii.trim(value);
        return all.isEmpty() ? null : all;
    }
}
