import java.io.IOException;
import java.io.InputStream;
import java.security.Principal;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Spring Boot with the login of Spring Security as it comes: a form, a session, and a token against forged requests. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@RestController
public class Shop {
    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments);
    }

    @GetMapping("/who")
    Map<String, String> who(Principal user) {
        return Map.of(
                "user", user.getName(),
                "url", ServletUriComponentsBuilder.fromCurrentRequest().toUriString());
    }

    @GetMapping("/big")
    StreamingResponseBody big(@RequestParam int size) {
        byte[] piece = new byte[1_000_000];
        return out -> {
            for (int sent = 0; sent < size; sent += piece.length) {
                out.write(piece);
            }
        };
    }

    @PostMapping("/upload")
    long upload(@RequestParam MultipartFile file) throws IOException {
        try (InputStream in = file.getInputStream()) {
            return in.transferTo(java.io.OutputStream.nullOutputStream());
        }
    }

    @GetMapping("/events")
    SseEmitter events() {
        SseEmitter emitter = new SseEmitter();
        new Thread(() -> {
            try {
                for (int i = 0; i < 5; i++) {
                    emitter.send("event " + i);
                    Thread.sleep(200);
                }
                emitter.complete();
            } catch (IOException | InterruptedException e) {
                emitter.completeWithError(e);
            }
        }).start();
        return emitter;
    }
}
