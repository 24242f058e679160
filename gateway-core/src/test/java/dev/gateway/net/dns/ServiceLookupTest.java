package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What SRV records say, and in which forms a name is asked for. */
class ServiceLookupTest {
    private static final String NAME = "_http._tcp.app.test.";

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<DnsRecord> records = new ArrayList<>();
    private final Map<String, Future<List<DnsRecord>>> answers = new HashMap<>();
    private final List<String> asked = new ArrayList<>();

    @AfterEach
    void close() {
        records.forEach(
                record -> assertThat(((DefaultDnsRawRecord) record).refCnt()).isZero());
        channel.finishAndReleaseAll();
    }

    private DnsRecord record(long seconds, int priority, int weight, int port, String target) {
        ByteBuf content =
                Unpooled.buffer().writeShort(priority).writeShort(weight).writeShort(port);
        for (String label : target.split("\\.", -1)) {
            content.writeByte(label.length()).writeCharSequence(label, StandardCharsets.US_ASCII);
        }
        return raw(DnsRecordType.SRV, seconds, content);
    }

    private DnsRecord raw(DnsRecordType type, long seconds, ByteBuf content) {
        DnsRecord record = new DefaultDnsRawRecord(NAME, type, seconds, content);
        records.add(record);
        return record;
    }

    private Future<ServiceRecord.Answer> ask(String... forms) {
        return ServiceLookup.start(
                channel.eventLoop(),
                name -> {
                    asked.add(name);
                    return answers.getOrDefault(
                            name,
                            channel.eventLoop().newFailedFuture(new UnknownHostException("no such name: " + name)));
                },
                "app",
                List.of(forms),
                300);
    }

    private void answer(String form, DnsRecord... of) {
        answers.put(form, channel.eventLoop().newSucceededFuture(List.of(of)));
    }

    @Test
    void recordsAreReadInTheirOrderAndReleased() {
        answer(
                NAME,
                record(60, 20, 1, 80, "c.test."),
                record(30, 10, 2, 81, "B.Test."),
                record(90, 10, 3, 82, "a.test."));
        ServiceRecord.Answer answer = ask(NAME).getNow();
        assertThat(answer.records())
                .containsExactly(
                        new ServiceRecord(10, 3, 82, "a.test."),
                        new ServiceRecord(10, 2, 81, "b.test."),
                        new ServiceRecord(20, 1, 80, "c.test."));
        assertThat(answer.seconds()).as("the shortest time to live").isEqualTo(30);
    }

    @Test
    void anAnswerHoldsForASecondAtLeastAndFiveMinutesAtMost() {
        answer(NAME, record(0, 1, 1, 80, "a.test."));
        assertThat(ask(NAME).getNow().seconds()).isEqualTo(1);
        answer(NAME, record(86_400, 1, 1, 80, "a.test."));
        assertThat(ask(NAME).getNow().seconds()).isEqualTo(300);
    }

    @Test
    void aRecordThatIsBrokenIsLeftOut() {
        answer(
                NAME,
                raw(DnsRecordType.SRV, 60, Unpooled.wrappedBuffer(new byte[] {0, 1, 0})),
                raw(DnsRecordType.TXT, 60, Unpooled.wrappedBuffer(new byte[] {1, 'x'})),
                record(60, 1, 1, 0, "port.test."),
                record(60, 1, 1, 80, "a.test."));
        assertThat(ask(NAME).getNow().records()).containsExactly(new ServiceRecord(1, 1, 80, "a.test."));
    }

    @Test
    void aDotForATargetMeansThatThereIsNoService() {
        answer(NAME, record(60, 0, 0, 0, ""));
        assertThat(ask(NAME).getNow().records()).isEmpty();
    }

    @Test
    void anAnswerWithoutRecordsThatCanBeUsedIsAFailure() {
        answer(NAME, record(60, 1, 1, 0, "port.test."));
        assertThat(ask(NAME).cause()).hasMessageContaining("no SRV records");
        answer(NAME);
        assertThat(ask(NAME).cause()).hasMessageContaining("no SRV records");
    }

    @Test
    void theNextFormIsTriedIfANameHasNoRecords() {
        answer("b.", record(60, 1, 1, 80, "a.test."));
        assertThat(ask("a.", "b.", "c.").getNow().records()).hasSize(1);
        assertThat(asked).containsExactly("a.", "b.");
    }

    @Test
    void noOtherFormIsTriedWhileNameServersDoNotAnswer() {
        UnknownHostException outage = DnsFailures.timeout();
        answers.put("a.", channel.eventLoop().newFailedFuture(outage));
        DnsRecord unasked = record(60, 1, 1, 80, "a.test.");
        answer("b.", unasked);
        assertThat(ask("a.", "b.").cause()).isSameAs(outage);
        assertThat(asked).containsExactly("a.");
        ReferenceCountUtil.release(unasked);
    }

    /** The servers of a search domain may be out of reach of the name server that is asked. */
    @Test
    void theNextFormIsTriedIfANameServerFailsAtAName() {
        UnknownHostException outage = DnsFailures.serverFailure();
        answers.put("a.", channel.eventLoop().newFailedFuture(outage));
        assertThat(ask("a.", "b.").cause()).as("the records may be there").isSameAs(outage);
        answer("b.", record(60, 1, 1, 80, "a.test."));
        assertThat(ask("a.", "b.").getNow().records()).hasSize(1);
    }

    @Test
    void aThousandRecordsAreKept() {
        DnsRecord[] many = new DnsRecord[ServiceLookup.MAX_RECORDS + 1];
        for (int i = 0; i < many.length; i++) {
            many[i] = record(60, 1, 1, 1 + i, "a.test.");
        }
        answer(NAME, many);
        assertThat(ask(NAME).getNow().records()).hasSize(1000);
    }
}
