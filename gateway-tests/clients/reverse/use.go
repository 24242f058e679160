// use VERSION BASE CA ACTION: uses a server with Go's client, and prints what came of it.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	for tries, _ := strconv.Atoi(os.Getenv("USE_TRIES")); tries > 0; tries-- {
		use()
	}
}

func use() {
	version, base, action := os.Args[1], os.Args[2], os.Args[4]
	pem, _ := os.ReadFile(os.Args[3])
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: version == "HTTP_2"}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	size, _ := strconv.Atoi(os.Getenv("USE_SIZE"))
	path, method, before := action, "GET", ""
	var body io.Reader
	if action == "restart" {
		path, before = "restart/hello", "cut, "
		if response, err := client.Get(base + "/restart"); err == nil {
			if _, err = io.Copy(io.Discard, response.Body); err == nil {
				before = "whole, "
			}
			response.Body.Close()
		}
	} else if action == "again" {
		path = "hello"
		if response, err := client.Get(base + "/close"); err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	} else if strings.HasPrefix(action, "up") {
		method, body = "POST", bytes.NewReader(make([]byte, size))
	}
	request, _ := http.NewRequest(method, base+"/"+path, body)
	if action == "login" {
		request.SetBasicAuth("ci", "open@sesame/1")
	}
	response, err := client.Do(request)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(response.Body)
	}
	switch {
	case err != nil:
		fmt.Println("error:", err)
	case action == "stream":
		fmt.Println(len(strings.Fields(string(text))), "pieces")
	case len(text) > 1000:
		fmt.Println(response.StatusCode, len(text))
	case response.StatusCode == 200:
		fmt.Println(before+"200", strings.TrimSpace(string(text)))
	default:
		fmt.Println(response.StatusCode)
	}
}
