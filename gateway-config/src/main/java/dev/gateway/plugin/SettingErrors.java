package dev.gateway.plugin;

/** Takes what is wrong with settings. Each error keeps the configuration from being used. */
public interface SettingErrors {
    /**
     * Reports an error. The message that the operator gets begins with file, line and column of the key's value.
     *
     * @param key whose value shows the mistake best
     * @param message what is wrong and how to mend it, such as {@code "expected less than max"}
     */
    void error(SettingKey<?> key, String message);
}
