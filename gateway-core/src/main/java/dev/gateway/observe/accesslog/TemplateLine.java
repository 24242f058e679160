package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogTemplate.Field;
import dev.gateway.config.observe.AccessLogTemplate.Literal;
import dev.gateway.config.observe.AccessLogTemplate.Part;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Tried;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.Names;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A line as a template has it; one per exchange, also of tunnels. A value between quotes has no quote, and any other no
 * space and none of the signs that stand next to fields, so that a peer can never add a column.
 */
final class TemplateLine extends LogLine {
    private static final List<Part> COMBINED = List.of(
            new Field("client", ""),
            new Literal(" - "),
            new Field("identity", ""),
            new Literal(" ["),
            new Field("clfTime", ""),
            new Literal("] \""),
            new Field("requestLine", ""),
            new Literal("\" "),
            new Field("status", ""),
            new Literal(" "),
            new Field("sentBytes", ""),
            new Literal(" \""),
            new Field("referer", ""),
            new Literal("\" \""),
            new Field("userAgent", ""),
            new Literal("\""));

    private final List<Step> steps = new ArrayList<>();
    private BitSet escaped = new BitSet(); // what values of the current step cannot have

    /** A part, and what its value cannot have. */
    private record Step(LogStep part, BitSet escaped) {}

    TemplateLine(List<Part> parts, LineBuffer buffer, Redaction redaction) {
        super(buffer, redaction);
        BitSet bare = signs(parts);
        boolean inQuotes = false;
        for (Part part : parts) {
            BitSet unwanted = inQuotes ? LineBuffer.QUOTED : bare;
            steps.add(new Step(LogStep.of(part), unwanted));
            if (part instanceof Literal literal) {
                inQuotes ^= literal.text().chars().filter(c -> c == '"').count() % 2 == 1;
            }
        }
    }

    /** As Apache and nginx write it. */
    static TemplateLine combined(LineBuffer buffer, Redaction redaction) {
        return new TemplateLine(COMBINED, buffer, redaction);
    }

    /** Returns what ends values: the signs next to fields, and white space. */
    private static BitSet signs(List<Part> parts) {
        BitSet signs = new BitSet();
        for (Part part : parts) {
            if (part instanceof Literal literal) {
                signs.set(literal.text().charAt(0));
                signs.set(literal.text().charAt(literal.text().length() - 1));
            }
        }
        signs.set(' ');
        signs.set('"');
        signs.set('\\');
        return signs;
    }

    @Override
    boolean has(Moment moment) {
        return moment == Moment.CLOSE;
    }

    @Override
    void write(ExchangeRecord exchange, Moment at) {
        moment = at;
        for (Step step : steps) {
            escaped = step.escaped;
            if (step.part.literal() != null) {
                buffer.put(step.part.literal());
            } else {
                step.part.writeValue(exchange, this);
            }
        }
        buffer.put('\n');
    }

    @Override
    void begin() {}

    @Override
    void end() {}

    @Override
    void absent() {
        buffer.put('-');
    }

    @Override
    void number(long value) {
        buffer.put(value);
    }

    @Override
    void tried(List<Tried> attempts) {
        characters(text(attempts));
    }

    @Override
    void bytes(AsciiString value) {
        buffer.putEscaped(value, escaped);
    }

    @Override
    void name(Names.Name name) {
        characters(name.text);
    }

    @Override
    void characters(String value) {
        buffer.putEscaped(new AsciiString(value.getBytes(StandardCharsets.UTF_8), false), escaped);
    }
}
