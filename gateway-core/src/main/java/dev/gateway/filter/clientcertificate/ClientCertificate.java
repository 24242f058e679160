package dev.gateway.filter.clientcertificate;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.certificate.PresentedCertificate;
import dev.gateway.filter.certificate.PresentedNames;
import dev.gateway.filter.clientcertificate.ClientCertificateConfig.Part;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import java.security.cert.CertificateEncodingException;
import org.jspecify.annotations.Nullable;

/**
 * Authorization by client certificates: lets only clients use a route whose certificate TLS has verified and has an allowed
 * name, and tells the upstream of it (RFC 9440). Shared by all event loops.
 */
public final class ClientCertificate implements Filter {
    private final ClientCertificateConfig config;
    private final @Nullable AllowedNames allowed; // null for any certificate
    private final boolean forwardsCertificate;
    private final boolean forwardsChain;

    /** Makes the filter. */
    public ClientCertificate(ClientCertificateConfig config) {
        this.config = config;
        this.allowed = config.allow().isEmpty() ? null : new AllowedNames(config.allow());
        this.forwardsCertificate = config.forward().contains(Part.CERTIFICATE);
        this.forwardsChain = config.forward().contains(Part.CHAIN);
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        ProxyFields.removeCertificates(head.fields()); // of this connection, only this filter says what it is
        ConnectionInfo connection = context.connection();
        ConnectionInfo.TlsInfo tls = connection.tls();
        ClientChain chain = tls == null ? null : tls.clientChain();
        if (chain == null) {
            return config.required() ? refuse("no client certificate") : Verdict.PROCEED;
        }
        PresentedCertificate shown = chain.reading(PresentedCertificate.class, PresentedCertificate::new);
        PresentedNames names = shown.names();
        Identity identity = allowed == null ? names.identity() : allowed.find(names);
        if (allowed != null && identity == null) {
            return refuse(notAllowed(names));
        }
        if (identity != null) {
            context.setIdentity(identity);
        }
        return forwardsCertificate ? forward(shown, head.fields(), connection) : Verdict.PROCEED;
    }

    private static String notAllowed(PresentedNames names) {
        Identity identity = names.identity();
        String fault = names.fault();
        return "client certificate " + (identity == null ? "without a usable name" : "of " + identity.name())
                + " is not among those allowed" + (fault == null ? "" : ": " + fault);
    }

    /** Adds the fields, or refuses the request: without them, the upstream would take it for one without a certificate. */
    private Verdict forward(PresentedCertificate shown, Fields fields, ConnectionInfo connection) {
        try {
            int length = shown.certificateLength() + (forwardsChain ? shown.chainLength() : 0);
            if (length > config.maxForwardedSize()) {
                return refuse("client certificate too large to be forwarded: " + length + " bytes, more than "
                        + config.maxForwardedSize() + " (maxForwardedSize)");
            }
            fields.add(FieldName.CLIENT_CERT, shown.certificate(connection));
            if (forwardsChain && shown.chainLength() > 0) {
                fields.add(FieldName.CLIENT_CERT_CHAIN, shown.chain(connection));
            }
            return Verdict.PROCEED;
        } catch (CertificateEncodingException e) {
            return refuse("client certificate that cannot be forwarded: "
                    + e.getClass().getSimpleName());
        }
    }

    /** Refuses with 403: there is no scheme by which a 401 could ask for a certificate (RFC 9110, section 15.5.2). */
    private static Verdict refuse(String why) {
        return new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, why));
    }

    /** What the head does not take from the client, the trailers do not, either. */
    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        ProxyFields.removeCertificates(trailers);
    }
}
