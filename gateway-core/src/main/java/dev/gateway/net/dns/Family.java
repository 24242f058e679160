package dev.gateway.net.dns;

/** The two kinds of addresses. DNS has a separate query for each. */
enum Family {
    IPV6,
    IPV4
}
