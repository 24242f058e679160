package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.admin.AdminAccess.Audience;
import dev.gateway.admin.AdminAccess.Reach;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is let in at an admin listener without a token. */
class AdminAccessTest {
    private static String refusal(AdminAccess access, Audience audience, String host, String... fields) {
        Fields all = new Fields();
        for (String field : fields) {
            int colon = field.indexOf(':');
            all.add(
                    FieldName.of(field.substring(0, colon)),
                    new AsciiString(field.substring(colon + 1).strip()));
        }
        RequestHead head = new RequestHead(
                Method.POST, new AsciiString("http"), new AsciiString(host), new AsciiString("/drain"), all, 0);
        AdminResponse response = access.refusal(head, audience);
        return response == null ? "" : response.status() + " " + response.text();
    }

    @ParameterizedTest
    @CsvSource({
        "Via: 1.1 nginx, Via",
        "X-Forwarded-For: 203.0.113.9, X-Forwarded-For",
        "x-forwarded-proto: https, X-Forwarded-Proto",
        "X_Forwarded_For: 203.0.113.9, X_Forwarded_For",
        "X-Real-IP: 203.0.113.9, X-Real-IP",
        "Forwarded: for=_x, Forwarded"
    })
    void clientsOfAProxyMayNotActWithoutAToken(String field, String name) {
        for (Reach reach : new Reach[] {Reach.MACHINE, Reach.FILE}) {
            AdminAccess access = new AdminAccess(null, reach);
            assertThat(refusal(access, Audience.OPERATORS, "127.0.0.1", "X-Requested-By: stranger"))
                    .isEmpty();
            assertThat(refusal(access, Audience.OPERATORS, "127.0.0.1", "X-Requested-By: stranger", field))
                    .startsWith("403 a proxy has passed this on, as " + name + " shows");
            assertThat(refusal(access, Audience.READERS, "127.0.0.1", field))
                    .as("who only looks")
                    .isEmpty();
        }
    }
}
