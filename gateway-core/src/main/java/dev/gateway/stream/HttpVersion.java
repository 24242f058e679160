package dev.gateway.stream;

import io.netty.util.AsciiString;

/** HTTP version: what is spoken on a connection. */
public enum HttpVersion {
    HTTP_1_0("HTTP/1.0", "1.0", "1.0"),
    HTTP_1_1("HTTP/1.1", "1.1", "1.1"),
    HTTP_2("HTTP/2.0", "2.0", "2"),
    /** Bytes that nobody here reads: a tunnel's connection upstream, or one of a listener that passes on what it gets. */
    TCP("TCP", "-", "");

    private final AsciiString text;
    private final AsciiString number;
    private final String shortNumber;
    private final String shortText;

    HttpVersion(String text, String number, String shortNumber) {
        this.text = new AsciiString(text);
        this.number = new AsciiString(number);
        this.shortNumber = shortNumber;
        this.shortText = shortNumber.isEmpty() ? text : "HTTP/" + shortNumber;
    }

    /** Returns the name as access logs write it. */
    public AsciiString text() {
        return text;
    }

    /** Returns the number as {@code Via} writes it. */
    public AsciiString number() {
        return number;
    }

    /** Returns the number without a minor version where there is none, such as {@code 2}. */
    public String shortNumber() {
        return shortNumber;
    }

    /** Returns the name without a minor version where there is none, such as {@code HTTP/2}. */
    public String shortText() {
        return shortText;
    }

    /** Whether a connection carries several requests at the same time. */
    public boolean multiplexes() {
        return this == HTTP_2;
    }
}
