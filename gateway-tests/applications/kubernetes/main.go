// One pod behind the API of Kubernetes, for kubectl: exec, attach, cp, port-forward and logs.
//
// The streams are those of a cluster: the API server's own handlers pass them on to the server of streams that container runtimes have.
// The pod is a stand-in. Its commands are processes of this machine, its ports are those of loopback, and its program is in this file.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/proxy"
	streams "k8s.io/apiserver/pkg/util/proxy"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

const (
	name = "shell"
	path = "/api/v1/namespaces/default/pods/" + name
)

func main() {
	address := flag.String("address", "127.0.0.1:8001", "where the API listens")
	inside := flag.String("inside", "127.0.0.1:8002", "where the program in the pod listens")
	root := flag.String("root", ".", "the files that the program serves")
	flag.Parse()
	pod := newPod()
	go func() { log.Fatal(http.ListenAndServe(*inside, files(*root))) }()
	api := &api{pod: pod, containers: serveStreams(pod)}
	log.Fatal(http.ListenAndServe(*address, api.handler()))
}

// serveStreams starts the server of streams on a port of its own, as a container runtime does.
func serveStreams(pod *pod) streaming.Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	server, err := streaming.NewServer(config, pod)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(listener, server)) }()
	return server
}

type api struct {
	pod        *pod
	containers streaming.Server
}

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api", answer(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}))
	mux.HandleFunc("GET /apis", answer(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}))
	mux.HandleFunc("GET /api/v1", answer(metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
		APIResources: []metav1.APIResource{{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", Verbs: []string{"get"}}}}))
	mux.HandleFunc("GET "+path, answer(corev1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Stdin: true}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning}}))
	mux.HandleFunc("GET "+path+"/log", a.log)
	mux.HandleFunc(path+"/exec", a.exec)
	mux.HandleFunc(path+"/attach", a.attach)
	mux.HandleFunc(path+"/portforward", a.forward)
	return mux
}

func answer(object any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(object); err != nil {
			log.Print(err)
		}
	}
}

func (a *api) log(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	if asks(r, "follow") {
		a.pod.follow(r.Context(), 0, flushing{w, http.NewResponseController(w)})
	} else {
		w.Write(a.pod.said())
	}
}

func (a *api) exec(w http.ResponseWriter, r *http.Request) {
	location, err := a.containers.GetExec(&runtimeapi.ExecRequest{
		ContainerId: name, Cmd: r.URL.Query()["command"],
		Stdin: asks(r, "stdin"), Stdout: asks(r, "stdout"), Stderr: asks(r, "stderr"), Tty: asks(r, "tty")})
	a.run(w, r, location.GetUrl(), err)
}

func (a *api) attach(w http.ResponseWriter, r *http.Request) {
	location, err := a.containers.GetAttach(&runtimeapi.AttachRequest{
		ContainerId: name, Stdin: asks(r, "stdin"), Stdout: asks(r, "stdout"), Stderr: asks(r, "stderr"), Tty: asks(r, "tty")})
	a.run(w, r, location.GetUrl(), err)
}

// run passes on what an API server passes on: SPDY as it is, and WebSockets as SPDY.
func (a *api) run(w http.ResponseWriter, r *http.Request, location string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to := parse(location)
	options := streams.Options{Stdin: asks(r, "stdin"), Stdout: asks(r, "stdout"), Stderr: asks(r, "stderr"), Tty: asks(r, "tty")}
	streams.NewTranslatingHandler(
		spdy(to), streams.NewStreamTranslatorHandler(to, nil, 0, options), wsstream.IsWebSocketRequestWithStreamCloseProtocol).ServeHTTP(w, r)
}

func (a *api) forward(w http.ResponseWriter, r *http.Request) {
	location, err := a.containers.GetPortForward(&runtimeapi.PortForwardRequest{PodSandboxId: name})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to := spdy(parse(location.Url))
	streams.NewTranslatingHandler(to, streams.NewTunnelingHandler(to), wsstream.IsWebSocketRequestWithTunnelingProtocol).ServeHTTP(w, r)
}

func spdy(to *url.URL) http.Handler {
	return proxy.NewUpgradeAwareHandler(to, nil, false, true, responder{})
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func parse(location string) *url.URL {
	to, err := url.Parse(location)
	if err != nil {
		panic(err) // the server of streams has made it
	}
	return to
}

// asks returns whether a parameter of the query is true.
func asks(r *http.Request, parameter string) bool {
	value, _ := strconv.ParseBool(r.URL.Query().Get(parameter))
	return value
}

// flushing sends each piece of a response at once.
type flushing struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (f flushing) Write(piece []byte) (int, error) {
	count, err := f.ResponseWriter.Write(piece)
	if err != nil {
		return count, err
	}
	return count, f.control.Flush()
}
