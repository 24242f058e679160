/** Joins the halves of an exchange: lifecycle, relay, retry, local replies. Knows no wire protocol. */
@NullMarked
package dev.gateway.exchange;

import org.jspecify.annotations.NullMarked;
