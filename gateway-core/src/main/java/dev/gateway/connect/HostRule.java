package dev.gateway.connect;

/**
 * Host rule: one line of an allow or deny list.
 *
 * @param text a name, {@code .domain} for a domain and all names below it, an address, a block of addresses
 *     ({@code 192.0.2.0/24}), or {@code *}
 * @param label what metrics and explanations call it, such as {@code deny[0]}: from the configuration, never from
 *     traffic
 */
public record HostRule(String text, String label) {}
