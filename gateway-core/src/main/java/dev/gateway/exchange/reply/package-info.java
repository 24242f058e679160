/** The gateway's own answers, and the status of gRPC calls. */
@NullMarked
package dev.gateway.exchange.reply;

import org.jspecify.annotations.NullMarked;
