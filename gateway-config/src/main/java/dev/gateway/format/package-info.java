/**
 * Formats that both the configuration and what runs read or write, each with its grammar and its messages: what is valid is
 * what runs. Knows nobody, and nothing of Netty.
 */
@NullMarked
package dev.gateway.format;

import org.jspecify.annotations.NullMarked;
