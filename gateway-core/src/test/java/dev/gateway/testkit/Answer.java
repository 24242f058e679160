package dev.gateway.testkit;

import io.netty.handler.codec.http.HttpHeaders;

/**
 * Response that a client got from the gateway in whole. The upstream answers GET with the line and the fields of the request
 * that it got, and POST with the body that it got.
 *
 * @param method of the request: GET or POST
 * @param fields of the response; names in upper or lower case
 * @param body in UTF-8
 */
public record Answer(String method, int status, HttpHeaders fields, String body) {}
