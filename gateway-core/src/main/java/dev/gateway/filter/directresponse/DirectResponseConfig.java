package dev.gateway.filter.directresponse;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.filter.fields.HeaderField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers at once.
 *
 * @param statusCode 200 to 599
 * @param contentType null if there is no body
 * @param body as UTF-8; empty for none
 */
public record DirectResponseConfig(
        Position position, int statusCode, @Nullable String contentType, String body, List<HeaderField> headers)
        implements FilterConfig {
    public DirectResponseConfig {
        headers = List.copyOf(headers);
    }

    @Override
    public String type() {
        return DirectResponseFeature.NAME;
    }

    @Override
    public int answer() {
        return statusCode;
    }
}
