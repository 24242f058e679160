package dev.gateway.filter.errorpages;

import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.format.PagePlace;
import dev.gateway.format.PageType;
import dev.gateway.message.ReasonPhrase;
import dev.gateway.overload.memory.SharedBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * Error page: the body of an error, with places to fill in. No value comes from the request as it was sent, and each is
 * written so that it stays text. Immutable.
 */
public final class PageTemplate {
    private static final int VALUE_BYTES = 40;

    /** A text of up to so many bytes is copied into each page: the buffer of a shared one would take as much. */
    private static final int COPIED = 128;

    private final PageType type;
    private final AsciiString contentType;
    private final List<byte[]> texts; // one more than values
    private final List<Value> values;
    private final int ownBytes; // about how many bytes a filled page has for itself

    /** What may be filled in. */
    private enum Value {
        REQUEST_ID("requestId", ErrorAnswer::requestId),
        STATUS("status", answer -> Integer.toString(answer.status())),
        REASON("reason", answer -> ReasonPhrase.ofError(answer.status())),
        CAUSE("cause", answer -> answer.cause() == null ? null : answer.cause().label());

        private final String name;
        private final Function<ErrorAnswer, @Nullable CharSequence> source;

        Value(String name, Function<ErrorAnswer, @Nullable CharSequence> source) {
            this.name = name;
            this.source = source;
        }

        @Nullable
        CharSequence of(ErrorAnswer answer) {
            return source.apply(answer);
        }

        static Value named(String name) {
            for (Value value : values()) {
                if (value.name.equals(name)) {
                    return value;
                }
            }
            throw new IllegalArgumentException(name);
        }
    }

    /** Makes a page of its text. */
    public PageTemplate(PageType type, String text) {
        this.type = type;
        this.contentType = new AsciiString(type.contentType());
        List<byte[]> texts = new ArrayList<>();
        List<Value> values = new ArrayList<>();
        Matcher places = PagePlace.KNOWN.matcher(text);
        int end = 0;
        while (places.find()) {
            texts.add(text.substring(end, places.start()).getBytes(StandardCharsets.UTF_8));
            values.add(Value.named(places.group(1)));
            end = places.end();
        }
        texts.add(text.substring(end).getBytes(StandardCharsets.UTF_8));
        this.texts = List.copyOf(texts);
        this.values = List.copyOf(values);
        this.ownBytes = VALUE_BYTES * values.size()
                + texts.stream()
                        .mapToInt(each -> each.length <= COPIED ? each.length : 0)
                        .sum();
    }

    /** Returns the media types that clients ask for who want this page. */
    List<String> asked() {
        return type.asked();
    }

    /**
     * Fills the page in. Its long texts are shared by all answers, so that each takes memory for its values only: nobody knows
     * how long clients take to read them.
     */
    ErrorBody.Page fill(ErrorAnswer answer) {
        if (values.isEmpty()) {
            return new ErrorBody.Page(contentType, SharedBytes.of(texts.get(0)));
        }
        CompositeByteBuf page = Unpooled.compositeBuffer(2 * texts.size());
        ByteBuf own = Unpooled.buffer(ownBytes);
        add(texts.get(0), page, own);
        for (int i = 0; i < values.size(); i++) {
            CharSequence value = values.get(i).of(answer);
            if (value != null) {
                ByteBufUtil.writeUtf8(own, type.escape(value.toString()));
            }
            add(texts.get(i + 1), page, own);
        }
        addOwn(page, own);
        own.release();
        return new ErrorBody.Page(contentType, page);
    }

    private static void add(byte[] text, CompositeByteBuf page, ByteBuf own) {
        if (text.length <= COPIED) {
            own.writeBytes(text);
        } else {
            addOwn(page, own);
            page.addComponent(true, SharedBytes.of(text));
        }
    }

    /** Adds the values and short texts since the last shared text. */
    private static void addOwn(CompositeByteBuf page, ByteBuf own) {
        if (own.isReadable()) {
            page.addComponent(true, Unpooled.wrappedBuffer(ByteBufUtil.getBytes(own)));
            own.clear();
        }
    }
}
