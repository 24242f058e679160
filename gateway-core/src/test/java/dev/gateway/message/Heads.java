package dev.gateway.message;

import io.netty.util.AsciiString;

/** Makes heads for tests. */
public final class Heads {
    private Heads() {}

    /** Makes a GET request. */
    public static RequestHead get(String authority, String path, String... fields) {
        return request("GET", authority, path, fields);
    }

    /** Makes a request; fields are lines such as {@code Name: value}. */
    public static RequestHead request(String method, String authority, String path, String... fields) {
        return new RequestHead(
                Method.of(method),
                new AsciiString("http"),
                new AsciiString(authority),
                new AsciiString(path),
                fields(fields),
                0);
    }

    /** Makes a table of lines such as {@code Name: value}. */
    public static Fields fields(String... lines) {
        Fields fields = new Fields();
        for (String line : lines) {
            int colon = line.indexOf(':');
            fields.add(
                    new AsciiString(line.substring(0, colon)),
                    new AsciiString(line.substring(colon + 1).strip()));
        }
        return fields;
    }
}
