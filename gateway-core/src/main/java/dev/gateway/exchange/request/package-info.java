/** What the gateway reads, refuses and adds in a request's head before it looks for an upstream. */
@NullMarked
package dev.gateway.exchange.request;

import org.jspecify.annotations.NullMarked;
