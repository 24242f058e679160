/** Names and other contents of client certificates, for filters that read them. */
@NullMarked
package dev.gateway.filter.certificate;

import org.jspecify.annotations.NullMarked;
