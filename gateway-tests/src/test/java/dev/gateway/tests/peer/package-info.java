/**
 * The peers of the gateway as tests script them: clients and origins of HTTP/1.1 and HTTP/2 on blocking sockets, which
 * share no code with what they test but the header compression.
 */
package dev.gateway.tests.peer;
