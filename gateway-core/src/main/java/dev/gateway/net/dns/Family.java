package dev.gateway.net.dns;

/** The two kinds of addresses, which DNS is asked for separately. */
enum Family {
    IPV6,
    IPV4
}
