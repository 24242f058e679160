// client: reads lines of a lane, a method and a URL, and writes what Go's client gets of each, as JSON. Each lane has a connection of
// its own.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
)

type result struct {
	Status   int         `json:"status"`
	Body     string      `json:"body"`
	Trailers [][2]string `json:"trailers"`
	Error    string      `json:"error"`
}

var writing sync.Mutex

func main() {
	lanes := map[string]chan []string{}
	lines := bufio.NewScanner(os.Stdin)
	log.SetOutput(io.Discard) // of what an idle connection receives
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		lane := lanes[words[0]]
		if lane == nil {
			lane = make(chan []string, 64)
			lanes[words[0]] = lane
			go work(lane)
		}
		lane <- words
	}
}

func work(lane chan []string) {
	transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: 1}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for words := range lane {
		told, err := json.Marshal(fetch(client, words[1], words[2]))
		if err != nil {
			panic(err)
		}
		writing.Lock()
		fmt.Println(words[0], string(told))
		writing.Unlock()
	}
}

func fetch(client *http.Client, method, url string) result {
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		panic(err)
	}
	got := result{Trailers: [][2]string{}}
	response, err := client.Do(request)
	if err != nil {
		got.Error = err.Error()
		return got
	}
	defer response.Body.Close()
	got.Status = response.StatusCode
	body, err := io.ReadAll(response.Body)
	got.Body = hex.EncodeToString(body)
	if err != nil {
		got.Error = err.Error()
	}
	for name, values := range response.Trailer {
		for _, value := range values {
			got.Trailers = append(got.Trailers, [2]string{strings.ToLower(name), value})
		}
	}
	return got
}
