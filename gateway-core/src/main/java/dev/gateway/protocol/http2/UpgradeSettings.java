package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2Settings;

/** Reads the SETTINGS payload that came as {@code HTTP2-Settings} (RFC 7540, section 3.2.1). */
final class UpgradeSettings {
    private static final int ENTRY = 6;

    private UpgradeSettings() {}

    /**
     * Reads it.
     *
     * @throws IllegalArgumentException if it is not valid
     */
    static Http2Settings parse(byte[] payload) {
        if (payload.length % ENTRY != 0) {
            throw new IllegalArgumentException("not a SETTINGS payload");
        }
        Http2Settings settings = new Http2Settings();
        for (int i = 0; i < payload.length; i += ENTRY) {
            int id = (payload[i] & 0xff) << 8 | (payload[i + 1] & 0xff);
            long setting = 0;
            for (int j = i + 2; j < i + ENTRY; j++) {
                setting = setting << 8 | (payload[j] & 0xff);
            }
            settings.put((char) id, Long.valueOf(setting));
        }
        return settings;
    }
}
