// server PORT: tells in X-Seen what Go's server reads of each request, as JSON in Base64. The body is the number of the answer.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
)

type seen struct {
	Method string   `json:"method"`
	Target string   `json:"target"`
	Paths  []string `json:"paths"`
	Hosts  []string `json:"hosts"`
	Length int      `json:"length"`
	Hash   string   `json:"hash"`
}

var answers atomic.Int64

func raw(text string) string { return hex.EncodeToString([]byte(text)) }

func main() {
	server := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: http.HandlerFunc(answer), ErrorLog: log.New(io.Discard, "", 0)}
	log.Fatal(server.ListenAndServe())
}

// As ServeMux cleans it.
func cleaned(text string) string {
	found := path.Clean("/" + text)
	if strings.HasSuffix(text, "/") && found != "/" {
		return found + "/"
	}
	return found
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the request has no end
	}
	hash := sha256.Sum256(body)
	told := seen{raw(r.Method), raw(r.RequestURI), []string{raw(r.URL.Path), raw(cleaned(r.URL.Path))}, []string{raw(r.Host)}, len(body), hex.EncodeToString(hash[:])}
	if parsed, err := url.Parse("http://" + r.Host); err == nil { // as applications find the name without the port
		told.Hosts = append(told.Hosts, raw(parsed.Hostname()))
	}
	text, err := json.Marshal(told)
	if err != nil {
		log.Fatal(err)
	}
	id := strconv.FormatInt(answers.Add(1), 10)
	w.Header().Set("X-Id", id)
	w.Header().Set("X-Seen", base64.StdEncoding.EncodeToString(text))
	w.Header().Set("Content-Length", strconv.Itoa(len(id)))
	io.WriteString(w, id)
}
