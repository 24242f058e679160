/** Filter ExternalAuth: a server decides about each request, by HTTP or gRPC. */
@NullMarked
package dev.gateway.filter.externalauth;

import org.jspecify.annotations.NullMarked;
