package dev.gateway.exchange.request;

import dev.gateway.filter.RequestWord;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import org.jspecify.annotations.Nullable;

/** Request words: what each of them stands for, as the access log has it, but for the path. No state. */
public final class RequestWords {
    private RequestWords() {}

    /**
     * Returns the value of a word, empty if it has none.
     *
     * @param word not that for the path, which the record has as the client wrote it, with credentials
     */
    public static CharSequence of(ExchangeRecord record, RequestWord word) {
        TlsInfo tls = record.connection.tls();
        return switch (word) {
            case CLIENT -> record.client.text();
            case PEER -> record.connection.peer().text();
            case LISTENER -> record.connection.listenerName();
            case PROTOCOL -> record.connection.version().text();
            case METHOD -> record.method == null ? "" : record.method.name();
            case SCHEME -> record.target.scheme();
            case AUTHORITY -> record.authority;
            case PATH -> throw new IllegalArgumentException("the record has the path with credentials");
            case IDENTITY -> record.identity;
            case REQUEST_ID -> orEmpty(record.requestId);
            case SERVER_NAME -> tls == null ? "" : orEmpty(tls.serverName());
            case TLS_PROTOCOL -> tls == null ? "" : tls.protocol();
            case TLS_CIPHER -> tls == null ? "" : tls.cipher();
            case CLIENT_SUBJECT -> tls == null ? "" : orEmpty(tls.clientSubject());
        };
    }

    private static CharSequence orEmpty(@Nullable CharSequence value) {
        return value == null ? "" : value;
    }
}
