/** Export of spans and metrics by OTLP, with OpenTelemetry's SDK; which is not loaded unless something is exported. */
@NullMarked
package dev.gateway.observe.otlp;

import org.jspecify.annotations.NullMarked;
