/** Export of spans by OTLP, with OpenTelemetry's SDK; nothing here is loaded unless spans are exported. */
@NullMarked
package dev.gateway.otlp;

import org.jspecify.annotations.NullMarked;
