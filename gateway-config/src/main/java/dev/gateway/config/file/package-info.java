/** The files that a configuration names, such as lists of addresses: how they are read, and what is wrong with them. */
@NullMarked
package dev.gateway.config.file;

import org.jspecify.annotations.NullMarked;
