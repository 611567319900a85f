// Program reflector follows all ConfigMaps of a server with client-go's reflector and answers each line on its standard
// input with one line of JSON that says what it holds and what it noticed. Before that, a line "write NAMESPACE/NAME" has it
// read that ConfigMap and write it again, as controllers do, until there is no conflict. It ends with its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// report is what one line of output holds.
type report struct {
	// Objects maps namespace/name to the resourceVersion.
	Objects map[string]string `json:"objects"`
	// Complaints are changes that do not follow from what was held before them.
	Complaints []string `json:"complaints"`
	// Counts says how often each kind of request or change happened.
	Counts map[string]int `json:"counts"`
}

// exactStore holds objects and complains about every change that an exact history would not have.
type exactStore struct {
	mu         sync.Mutex
	objects    map[string]*corev1.ConfigMap
	complaints []string
	counts     map[string]int
}

func keyOf(object *corev1.ConfigMap) string { return object.Namespace + "/" + object.Name }

func versionOf(object *corev1.ConfigMap) uint64 {
	version, err := strconv.ParseUint(object.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return version
}

func (s *exactStore) change(what string, given interface{}, apply func(key string, held, object *corev1.ConfigMap) string) error {
	object := given.(*corev1.ConfigMap)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	key := keyOf(object)
	if complaint := apply(key, s.objects[key], object); complaint != "" {
		s.complaints = append(s.complaints, fmt.Sprintf("%s of %s at %s: %s", what, key, object.ResourceVersion, complaint))
	}
	return nil
}

func (s *exactStore) Add(given interface{}) error {
	return s.change("add", given, func(key string, held, object *corev1.ConfigMap) string {
		s.objects[key] = object
		if held != nil {
			return "already held at " + held.ResourceVersion
		}
		return ""
	})
}

func (s *exactStore) Update(given interface{}) error {
	return s.change("update", given, func(key string, held, object *corev1.ConfigMap) string {
		s.objects[key] = object
		switch {
		case held == nil:
			return "not held"
		case held.UID != object.UID:
			return "another object with its name was held"
		case versionOf(held) >= versionOf(object):
			return "held at " + held.ResourceVersion
		}
		return ""
	})
}

func (s *exactStore) Delete(given interface{}) error {
	return s.change("delete", given, func(key string, held, object *corev1.ConfigMap) string {
		delete(s.objects, key)
		switch {
		case held == nil:
			return "not held"
		case held.UID != object.UID:
			return "another object with its name was held"
		}
		return ""
	})
}

func (s *exactStore) Replace(list []interface{}, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts["replace"]++
	objects := map[string]*corev1.ConfigMap{}
	for _, given := range list {
		object := given.(*corev1.ConfigMap)
		key := keyOf(object)
		if held := s.objects[key]; held != nil && versionOf(held) > versionOf(object) {
			s.complaints = append(s.complaints, fmt.Sprintf("list shows %s at %s, held at %s", key, object.ResourceVersion, held.ResourceVersion))
		}
		objects[key] = object
	}
	s.objects = objects
	return nil
}

func (s *exactStore) complain(complaint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaints = append(s.complaints, complaint)
}

func (s *exactStore) Resync() error { return nil }

func (s *exactStore) report() report {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := report{Objects: map[string]string{}, Complaints: append([]string{}, s.complaints...), Counts: map[string]int{}}
	for key, object := range s.objects {
		result.Objects[key] = object.ResourceVersion
	}
	for what, count := range s.counts {
		result.Counts[what] = count
	}
	return result
}

// counting notes what requests the reflector makes.
type counting struct {
	next  http.RoundTripper
	store *exactStore
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	what := "other requests"
	if query.Get("sendInitialEvents") == "true" {
		what = "watch requests with initial events"
	} else if query.Has("watch") {
		what = "watch requests"
	} else if strings.HasSuffix(request.URL.Path, "/configmaps") {
		what = "list requests"
	}
	c.store.mu.Lock()
	c.store.counts[what]++
	c.store.mu.Unlock()
	return c.next.RoundTrip(request)
}

func clientOf(server, token string, store *exactStore) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return rest.RESTClientFor(&rest.Config{
		Host:        server,
		APIPath:     "/api",
		BearerToken: token,
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &corev1.SchemeGroupVersion,
			NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
		},
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		WrapTransport: func(next http.RoundTripper) http.RoundTripper {
			return counting{next, store}
		},
	})
}

// write reads a ConfigMap and writes it with an entry more, again and again while others are faster.
func write(ctx context.Context, client *rest.RESTClient, namespace, name string, store *exactStore) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		store.mu.Lock()
		store.counts["attempts to write"]++
		store.mu.Unlock()
		object := &corev1.ConfigMap{}
		if err := client.Get().Namespace(namespace).Resource("configmaps").Name(name).Do(ctx).Into(object); err != nil {
			return err
		}
		if object.Data == nil {
			object.Data = map[string]string{}
		}
		object.Data["written"] = "by a controller"
		return client.Put().Namespace(namespace).Resource("configmaps").Name(name).Body(object).Do(ctx).Error()
	})
}

func main() {
	server := flag.String("server", "", "address of the API")
	token := flag.String("token", "", "bearer token")
	flag.Parse()
	store := &exactStore{objects: map[string]*corev1.ConfigMap{}, counts: map[string]int{}}
	client, err := clientOf(*server, *token, store)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	source := cache.NewListWatchFromClient(client, "configmaps", metav1.NamespaceAll, fields.Everything())
	// Short pauses, since this one is disconnected much more often than others.
	backoff := &wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.5, Steps: 5, Cap: 200 * time.Millisecond}
	options := cache.ReflectorOptions{Backoff: backoff}
	reflector := cache.NewReflectorWithOptions(source, &corev1.ConfigMap{}, store, options)
	ctx, stop := context.WithCancel(context.Background())
	go reflector.RunWithContext(ctx)

	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if key, isWrite := strings.CutPrefix(lines.Text(), "write "); isWrite {
			namespace, name, _ := strings.Cut(key, "/")
			if err := write(ctx, client, namespace, name, store); err != nil {
				store.complain("write of " + key + ": " + err.Error())
			}
		}
		if err := out.Encode(store.report()); err != nil {
			break
		}
	}
	stop()
}
