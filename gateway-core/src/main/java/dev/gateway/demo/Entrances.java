package dev.gateway.demo;

import java.util.Map;

/** By which protocols the demo can be reached, for links between them. Written once the gateway serves; any thread. */
final class Entrances {
    private volatile Map<String, String> urls = Map.of(); // by protocol, in order

    void are(Map<String, String> byProtocol) {
        urls = byProtocol;
    }

    /** Returns links to a page by each protocol, or nothing if there is no choice. */
    String links(String page) {
        if (urls.size() < 2) {
            return "";
        }
        StringBuilder links = new StringBuilder("<nav aria-label=\"Protocol\">Protocol:");
        urls.forEach((protocol, url) -> links.append(" <a href=\"")
                .append(url)
                .append(page)
                .append("\">")
                .append(protocol)
                .append("</a>"));
        return links.append("</nav>").toString();
    }
}
