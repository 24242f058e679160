/** Filter ClientCertificate: which of the certificates that a listener has verified may use a route. */
@NullMarked
package dev.gateway.filter.clientcertificate;

import org.jspecify.annotations.NullMarked;
