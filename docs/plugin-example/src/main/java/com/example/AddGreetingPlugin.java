package com.example;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.message.FieldName;
import dev.gateway.message.ResponseHead;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import io.netty.util.AsciiString;
import java.util.List;

public final class AddGreetingPlugin implements FilterPlugin {
    private static final SettingKey<String> TEXT = SettingKey.text("text", "What the greeting says.");
    private static final FieldName GREETING = FieldName.of("X-Greeting");

    @Override
    public String type() {
        return "AddGreeting";
    }

    @Override
    public String description() {
        return "Adds the field X-Greeting to responses.";
    }

    @Override
    public List<SettingKey<?>> keys() {
        return List.of(TEXT);
    }

    @Override
    public void check(Settings settings, SettingErrors errors) {
        if (!settings.get(TEXT).matches("[ -~]+")) {
            errors.error(TEXT, "expected ASCII characters on one line");
        }
    }

    @Override
    public Filter create(Settings settings) {
        AsciiString text = new AsciiString(settings.get(TEXT));
        return new Filter() {
            @Override
            public void onResponse(ResponseHead head, FilterContext context) {
                head.fields().set(GREETING, text);
            }
        };
    }
}
