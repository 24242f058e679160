/**
 * Joins the halves of an exchange: lifecycle, relay, retry, local replies. Knows no wire protocol. An {@link
 * dev.gateway.exchange.Exchange} is made of parts. They share the data of its {@link
 * dev.gateway.exchange.ExchangeContext}; what has to be done elsewhere, each tells an {@code Owner} of its own: the
 * exchange, or the part that made it. So parts do not know the exchange, and a test can own one.
 */
@NullMarked
package dev.gateway.exchange;

import org.jspecify.annotations.NullMarked;
