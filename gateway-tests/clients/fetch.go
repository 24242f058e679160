// fetch URL: fetches by way of HTTPS_PROXY as Go's default transport does, prints the body. SSL_CERT_FILE is trusted.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	client := http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true},
		Timeout:   20 * time.Second,
	}
	response, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		fmt.Fprintln(os.Stderr, response.Status, err)
		os.Exit(1)
	}
	fmt.Print(response.Proto, " ", string(body))
}
