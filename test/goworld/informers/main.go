// Program informers follows every resource of a server that can be listed and watched with client-go's dynamic and metadata
// informers, and answers each line on its standard input with one line of JSON that says what they hold and what they
// noticed. It ends with its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// report is what one line of output holds.
type report struct {
	// Held maps "dynamic" and "metadata" to group/version/resource, and that to namespace/name and "uid resourceVersion".
	Held map[string]map[string]map[string]string `json:"held"`
	// Unsynced are informers that have not had their first list.
	Unsynced []string `json:"unsynced"`
	// Complaints are changes to a version that is not newer than the one before.
	Complaints []string `json:"complaints"`
	// Counts says how often each kind of request was made and how it was answered.
	Counts map[string]int `json:"counts"`
}

// notes is what all informers write down together.
type notes struct {
	mu         sync.Mutex
	complaints []string
	counts     map[string]int
}

func (n *notes) count(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[what]++
}

func (n *notes) complain(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.complaints = append(n.complaints, text)
}

// counting notes what requests are made and how they are answered.
type counting struct {
	next  http.RoundTripper
	notes *notes
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	what := "list"
	if query.Get("sendInitialEvents") == "true" {
		what = "watch with initial events"
	} else if query.Has("watch") {
		what = "watch"
	}
	answer, err := c.next.RoundTrip(request)
	if err != nil {
		c.notes.count(what + " without an answer")
	} else {
		c.notes.count(fmt.Sprintf("%s answered %d", what, answer.StatusCode))
	}
	return answer, err
}

func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err)
	}
	return version
}

func watchable(config *rest.Config) ([]schema.GroupVersionResource, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return nil, err
	}
	var found []schema.GroupVersionResource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "watch") {
				found = append(found, version.WithResource(resource.Name))
			}
		}
	}
	return found, nil
}

// follower is one informer.
type follower struct {
	kind, resource string
	informer       cache.SharedIndexInformer
}

func (f follower) note(all *notes) error {
	newer := func(before, after any) {
		old, err := meta.Accessor(before)
		if err != nil {
			panic(err)
		}
		now, err := meta.Accessor(after)
		if err != nil {
			panic(err)
		}
		// Lists that come again tell of every object once more.
		if versionOf(now) < versionOf(old) {
			all.complain(fmt.Sprintf("%s %s %s/%s went from %s to %s", f.kind, f.resource, now.GetNamespace(), now.GetName(),
				old.GetResourceVersion(), now.GetResourceVersion()))
		}
	}
	_, err := f.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: newer})
	return err
}

func (f follower) held() map[string]string {
	objects := map[string]string{}
	for _, given := range f.informer.GetStore().List() {
		object, err := meta.Accessor(given)
		if err != nil {
			panic(err)
		}
		objects[object.GetNamespace()+"/"+object.GetName()] = string(object.GetUID()) + " " + object.GetResourceVersion()
	}
	return objects
}

func follow(ctx context.Context, config *rest.Config, all *notes) ([]follower, error) {
	resources, err := watchable(config)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	partial := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	var followers []follower
	for _, resource := range resources {
		name := resource.GroupVersion().String() + "/" + resource.Resource
		followers = append(followers,
			follower{"dynamic", name, objects.ForResource(resource).Informer()},
			follower{"metadata", name, partial.ForResource(resource).Informer()})
	}
	for _, each := range followers {
		if err := each.note(all); err != nil {
			return nil, err
		}
	}
	objects.Start(ctx.Done())
	partial.Start(ctx.Done())
	return followers, nil
}

func describe(followers []follower, all *notes) report {
	result := report{Held: map[string]map[string]map[string]string{}, Unsynced: []string{}, Counts: map[string]int{}}
	for _, each := range followers {
		if !each.informer.HasSynced() {
			result.Unsynced = append(result.Unsynced, each.kind+" "+each.resource)
		}
		if result.Held[each.kind] == nil {
			result.Held[each.kind] = map[string]map[string]string{}
		}
		result.Held[each.kind][each.resource] = each.held()
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	result.Complaints = append([]string{}, all.complaints...)
	for what, count := range all.counts {
		result.Counts[what] = count
	}
	return result
}

func main() {
	server := flag.String("server", "", "address of the API")
	token := flag.String("token", "", "bearer token")
	flag.Parse()
	all := &notes{counts: map[string]int{}}
	config := &rest.Config{
		Host:            *server,
		BearerToken:     *token,
		QPS:             2000,
		Burst:           4000,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		WrapTransport: func(next http.RoundTripper) http.RoundTripper {
			return counting{next, all}
		},
	}
	ctx, stop := context.WithCancel(context.Background())
	followers, err := follow(ctx, config, all)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := out.Encode(describe(followers, all)); err != nil {
			break
		}
	}
	stop()
}
