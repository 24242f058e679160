package dev.gateway.config.filter;

import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.util.List;

/** Filter type of a plugin: what the configuration must know of it. Any thread may ask; no answer ever changes. */
public interface FilterDeclaration {
    /** Returns its name. */
    String type();

    /** Returns what the filter does, a sentence. */
    String description();

    /** Returns the keys of its settings. */
    List<SettingKey<?>> keys();

    /** Returns where it is among the gateway's own filters. */
    FilterPlace place();

    /** Whether it refuses requests, or asks who sends them. */
    boolean guards();

    /** Whether it may decide by the path of a request. */
    boolean decidesByPath();

    /** Returns the status with which it answers every request; 0 if requests may continue. */
    int answer();

    /** Reports what is wrong with settings whose values are right one by one. */
    void check(Settings settings, SettingErrors errors);
}
