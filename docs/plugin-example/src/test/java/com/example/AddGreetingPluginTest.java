package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.testkit.PluginCheck;
import org.junit.jupiter.api.Test;

class AddGreetingPluginTest {
    @Test
    void responsesHaveTheGreeting() throws Exception {
        PluginCheck.of(new AddGreetingPlugin(), "{text: Hello}")
                .answers(answer -> assertEquals("Hello", answer.fields().get("X-Greeting")))
                .run();
    }
}
