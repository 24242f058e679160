package dev.gateway.plugin;

import java.util.List;

/** Form of a setting in the configuration file. The gateway reads it; plugins get one from {@link SettingKey}. */
public sealed interface SettingForm {
    /** Any text. */
    record Text() implements SettingForm {}

    /** One of some words. */
    record Word(List<String> words) implements SettingForm {
        public Word {
            words = List.copyOf(words);
        }
    }

    /** A whole number in a range. */
    record Whole(int minimum, int maximum) implements SettingForm {}

    /** True or false. */
    record Flag() implements SettingForm {}

    /** A duration such as {@code 1m30s}. */
    record Span() implements SettingForm {}

    /** A number of bytes such as {@code 64KiB}. */
    record Size() implements SettingForm {}

    /** The name of a file. */
    record FileName() implements SettingForm {}

    /** A list of values. */
    record Several(SettingForm element) implements SettingForm {}
}
