/**
 * Joins the halves of an exchange: lifecycle, relay, retry, local replies. Knows no wire protocol. An {@link
 * dev.gateway.exchange.Exchange} consists of parts, which share the data of its {@link
 * dev.gateway.exchange.ExchangeContext}. Each part calls others through an {@code Owner} interface of its own, which the
 * exchange or the part that made it implements. So parts do not know the exchange, and a test can own one. What needs
 * none of these data is in a package inside.
 */
@NullMarked
package dev.gateway.exchange;

import org.jspecify.annotations.NullMarked;
