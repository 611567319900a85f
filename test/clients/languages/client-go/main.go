// What a program with client-go does: one line for each step that went as it should.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

const (
	namespace = "journey-client-go"
	patience  = time.Minute
)

func ok(step string) { fmt.Println("ok", step) }

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(what string, holds bool) {
	if !holds {
		log.Fatal("not so: ", what)
	}
}

func until(what string, isDone func() bool) {
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return isDone(), nil })
	check(what, err == nil)
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "journey"}},
		Data:       map[string]string{"key": value},
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.QPS = -1
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(protobuf)
	free := dynamic.NewForConfigOrDie(config)
	ctx, stop := context.WithTimeout(context.Background(), 2*patience)
	defer stop()

	version, err := client.Discovery().ServerVersion()
	must(err)
	check("the major version is 1", version.Major == "1")
	_, resources, err := client.Discovery().ServerGroupsAndResources()
	must(err)
	check("there are groups", len(resources) > 20)
	ok("discovery")

	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(err)
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err = maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	must(err)
	ok("create")

	_, err = maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	check("a second one is refused", errors.IsAlreadyExists(err))
	_, err = maps.Get(ctx, "none", metav1.GetOptions{})
	check("one is not found", errors.IsNotFound(err))
	_, err = maps.Create(ctx, configMap("Wrong", "1"), metav1.CreateOptions{})
	check("a wrong name is invalid", errors.IsInvalid(err))
	ok("errors")

	found, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=journey", Limit: 1})
	must(err)
	check("one has the label", len(found.Items) == 1 && found.Items[0].Name == "a")
	ok("list")

	for _, kind := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType} {
		patch := `{"data":{"more":"2"}}`
		if kind == types.JSONPatchType {
			patch = `[{"op":"add","path":"/data/more","value":"1"}]`
		}
		_, err = maps.Patch(ctx, "a", kind, []byte(patch), metav1.PatchOptions{})
		must(err)
	}
	ok("patch")

	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("b", namespace).WithData(map[string]string{"mine": "yes"}),
		metav1.ApplyOptions{FieldManager: "journey"})
	must(err)
	check("the manager owns it", applied.ManagedFields[0].Manager == "journey")
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("b", namespace).WithData(map[string]string{"mine": "no"}),
		metav1.ApplyOptions{FieldManager: "another"})
	check("another conflicts", errors.IsConflict(err))
	ok("apply")

	stale, err := maps.Get(ctx, "a", metav1.GetOptions{})
	must(err)
	attempts := 0
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		attempts++
		current := stale
		if attempts == 1 {
			_, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"more":"3"}}`), metav1.PatchOptions{})
			must(err)
		} else {
			current, err = maps.Get(ctx, "a", metav1.GetOptions{})
			must(err)
		}
		current.Data["key"] = "2"
		_, err := maps.Update(ctx, current, metav1.UpdateOptions{})
		return err
	}))
	check("a stale update was refused once", attempts == 2)
	ok("retry on conflict")

	follow(ctx, client)
	scale(ctx, client)
	customObjects(ctx, free)
	lead(ctx, client)

	must(client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
	until("the namespace is gone", func() bool {
		_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
	ok("delete")
}

func follow(ctx context.Context, client kubernetes.Interface) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan string, 16)
	tell := func(event string, object any) {
		if m, is := object.(*corev1.ConfigMap); is && m.Name == "c" {
			seen <- event
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("added", object) },
		UpdateFunc: func(_, object any) { tell("updated", object) },
		DeleteFunc: func(object any) { tell("deleted", object) },
	})
	must(err)
	factory.Start(ctx.Done())
	check("the informer has synced", cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	maps := client.CoreV1().ConfigMaps(namespace)
	next := func(wanted string) {
		select {
		case event := <-seen:
			check(wanted+", not "+event, event == wanted)
		case <-time.After(patience):
			log.Fatal("never ", wanted)
		}
	}
	_, err = maps.Create(ctx, configMap("c", "1"), metav1.CreateOptions{})
	must(err)
	next("added")
	_, err = maps.Patch(ctx, "c", types.MergePatchType, []byte(`{"data":{"key":"2"}}`), metav1.PatchOptions{})
	must(err)
	next("updated")
	must(maps.Delete(ctx, "c", metav1.DeleteOptions{}))
	next("deleted")
	ok("informer")
}

func scale(ctx context.Context, client kubernetes.Interface) {
	labels := map[string]string{"app": "web"}
	deployments := client.AppsV1().Deployments(namespace)
	_, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	must(err)
	current, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	must(err)
	current.Spec.Replicas = 3
	_, err = deployments.UpdateScale(ctx, "web", current, metav1.UpdateOptions{})
	must(err)
	web, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	must(err)
	check("there are three", *web.Spec.Replicas == 3)
	ok("scale")
}

func object(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

func customObjects(ctx context.Context, client dynamic.Interface) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	size := map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "integer"}}}
	shape := map[string]any{"type": "object", "properties": map[string]any{"spec": size}}
	version := map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": shape}}
	_, err := definitions.Create(ctx, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gophers.journey.example.com", map[string]any{
		"group": "journey.example.com", "scope": "Namespaced",
		"names":    map[string]any{"plural": "gophers", "kind": "Gopher"},
		"versions": []any{version},
	}), metav1.CreateOptions{})
	must(err)
	until("the definition is established", func() bool {
		definition, err := definitions.Get(ctx, "gophers.journey.example.com", metav1.GetOptions{})
		must(err)
		conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
		must(err)
		for _, condition := range conditions {
			if one := condition.(map[string]any); one["type"] == "Established" && one["status"] == "True" {
				return true
			}
		}
		return false
	})
	resource := schema.GroupVersionResource{Group: "journey.example.com", Version: "v1", Resource: "gophers"}
	gophers := client.Resource(resource).Namespace(namespace)
	gopher := func(name string, size any) *unstructured.Unstructured {
		return object("journey.example.com/v1", "Gopher", name, map[string]any{"size": size, "odd": int64(1)})
	}
	made, err := gophers.Create(ctx, gopher("g", int64(3)), metav1.CreateOptions{})
	must(err)
	_, hasOdd, _ := unstructured.NestedFieldNoCopy(made.Object, "spec", "odd")
	check("what the schema does not know is gone", !hasOdd)
	_, err = gophers.Create(ctx, gopher("h", "large"), metav1.CreateOptions{})
	check("a text is no integer", errors.IsInvalid(err))

	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	informer := factory.ForResource(resource).Informer()
	factory.Start(ctx.Done())
	check("the informer has synced", cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	check("it has one", len(informer.GetStore().List()) == 1)
	must(gophers.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	until("it has none", func() bool { return len(informer.GetStore().List()) == 0 })
	must(definitions.Delete(ctx, "gophers.journey.example.com", metav1.DeleteOptions{}))
	ok("custom objects")
}

func lead(ctx context.Context, client kubernetes.Interface) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	led := false
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "journey", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "gopher"},
		},
		ReleaseOnCancel: true,
		LeaseDuration:   patience,
		RenewDeadline:   patience / 2,
		RetryPeriod:     time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { led = true; stop() },
			OnStoppedLeading: func() {},
		},
	})
	check("it led", led)
	lease, err := client.CoordinationV1().Leases(namespace).Get(context.Background(), "journey", metav1.GetOptions{})
	must(err)
	check("it gave the lease back", *lease.Spec.HolderIdentity == "")
	ok("leader election")
}
