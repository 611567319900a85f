package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authnv1 "k8s.io/api/authentication/v1"
	authzv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	acappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	accorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	acmetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var ctx = context.Background()

func eventually(t *testing.T, what string, d time.Duration, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Errorf("%s: %v", what, err)
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestPlain(t *testing.T) {
	kc := os.Getenv("PLAIN_KUBECONFIG")
	if kc == "" {
		t.Skip("PLAIN_KUBECONFIG not set")
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kc)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.Burst = 1000, 2000
	suite(t, cfg)
}

func TestEnvtest(t *testing.T) {
	if os.Getenv("TEST_ASSET_KUBE_APISERVER") == "" {
		t.Skip()
	}
	env := &envtest.Environment{AttachControlPlaneOutput: true}
	start := time.Now()
	cfg, err := env.Start()
	if err != nil {
		t.Fatal("start: ", err)
	}
	t.Logf("envtest started in %v, host %s", time.Since(start), cfg.Host)
	defer func() {
		s := time.Now()
		if err := env.Stop(); err != nil {
			t.Error("stop: ", err)
		}
		t.Logf("stopped in %v", time.Since(s))
	}()
	suite(t, cfg)
	t.Run("anonymous", func(t *testing.T) {
		c := rest.AnonymousClientConfig(cfg)
		h, err := rest.HTTPClientFor(c)
		must(t, "http", err)
		for _, p := range []string{"/healthz", "/livez", "/readyz", "/version", "/api", "/apis"} {
			r, err := h.Get(strings.TrimSuffix(cfg.Host, "/") + p)
			if err != nil {
				t.Errorf("%s %v", p, err)
				continue
			}
			t.Logf("anonymous %s %d", p, r.StatusCode)
			r.Body.Close()
		}
	})
	t.Run("adduser-rbac", func(t *testing.T) {
		u, err := env.AddUser(envtest.User{Name: "bob", Groups: []string{"dev"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(u.Config(), client.Options{})
		must(t, "client", err)
		err = c.List(ctx, &corev1.SecretList{}, client.InNamespace("kube-system"))
		if !apierrors.IsForbidden(err) {
			t.Errorf("bob must not list secrets, got %v", err)
		}
		admin, _ := client.New(cfg, client.Options{})
		must(t, "role", client.IgnoreAlreadyExists(admin.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "pods-reader"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}}})))
		must(t, "binding", client.IgnoreAlreadyExists(admin.Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "bob"}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "pods-reader"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "bob"}}})))
		eventually(t, "bob lists pods", 5*time.Second, func() error { return c.List(ctx, &corev1.PodList{}) })
		ssr := &authnv1.SelfSubjectReview{}
		must(t, "ssr", c.Create(ctx, ssr))
		t.Logf("bob is %+v", ssr.Status.UserInfo)
	})
	t.Run("kubectl", func(t *testing.T) {
		u, err := env.AddUser(envtest.User{Name: "carol", Groups: []string{"system:masters"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		kc, err := u.Kubectl()
		if err != nil {
			t.Fatal(err)
		}
		out, serr, err := kc.Run("get", "ns", "-o", "name")
		ob := make([]byte, 300)
		n, _ := out.Read(ob)
		eb := make([]byte, 300)
		m, _ := serr.Read(eb)
		t.Logf("kubectl: %v %s %s", err, ob[:n], eb[:m])
		must(t, "kubectl", err)
	})
}

// TestEnvtestCRD starts with a folder of CustomResourceDefinitions.
func TestEnvtestCRD(t *testing.T) {
	if os.Getenv("TEST_ASSET_KUBE_APISERVER") == "" {
		t.Skip()
	}
	env := &envtest.Environment{CRDDirectoryPaths: []string{"crds"}}
	_, err := env.Start()
	if err != nil {
		t.Errorf("start with CRDs: %v", err)
	}
	_ = env.Stop()
}

type cmReconciler struct {
	client.Client
	rec interface {
		Eventf(regarding, related interface{}, t, r, a, n string, args ...any)
	}
	mgr ctrl.Manager
}

func suite(t *testing.T, cfg *rest.Config) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	c, err := client.New(cfg, client.Options{FieldOwner: "probe"})
	if err != nil {
		t.Fatal(err)
	}
	ns := fmt.Sprintf("probe-%d", time.Now().UnixNano()%1e9)
	must(t, "ns", c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))

	t.Run("mapper", func(t *testing.T) {
		m, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
		must(t, "mapping", err)
		if m != nil && m.Resource.Resource != "deployments" {
			t.Error(m.Resource)
		}
		_, err = c.RESTMapper().RESTMapping(schema.GroupKind{Group: "none.example.com", Kind: "X"})
		if !meta.IsNoMatchError(err) {
			t.Errorf("unknown kind: %T %v", err, err)
		}
		nsd, err := c.IsObjectNamespaced(&corev1.Node{})
		must(t, "nsd", err)
		if nsd {
			t.Error("node namespaced")
		}
	})

	t.Run("patches", func(t *testing.T) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: ns}, Data: map[string]string{"a": "1"}}
		must(t, "create", c.Create(ctx, cm))
		before := cm.DeepCopy()
		cm.Data["b"] = "2"
		must(t, "merge", c.Patch(ctx, cm, client.MergeFrom(before)))
		before = cm.DeepCopy()
		cm.Data["c"] = "3"
		must(t, "strategic", c.Patch(ctx, cm, client.StrategicMergeFrom(before)))
		must(t, "json", c.Patch(ctx, cm, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/data/d","value":"4"}]`))))
		stale := before.DeepCopy()
		old := stale.DeepCopy()
		stale.Data["z"] = "z"
		err := c.Patch(ctx, stale, client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsConflict(err) {
			t.Errorf("optimistic lock: %v", err)
		}
		if len(cm.Data) != 4 {
			t.Error(cm.Data)
		}
		err = c.Update(ctx, before)
		if !apierrors.IsConflict(err) {
			t.Errorf("stale update: %v", err)
		}
		err = c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: ns}})
		if !apierrors.IsAlreadyExists(err) {
			t.Errorf("exists: %v", err)
		}
		dry := client.NewDryRunClient(c)
		d := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "dry-", Namespace: ns}}
		must(t, "dry", dry.Create(ctx, d))
		if d.Name == "" || d.UID == "" {
			t.Error("dry create gave", d.Name, d.UID)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); !apierrors.IsNotFound(err) {
			t.Errorf("dry stored: %v", err)
		}
		strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "u", "namespace": ns}, "dada": map[string]any{}}}
		if err := strict.Create(ctx, u); err == nil {
			t.Error("strict accepted")
		} else {
			t.Log("strict:", err)
		}
	})

	t.Run("ssa", func(t *testing.T) {
		d := acappsv1.Deployment("ssa", ns).WithLabels(map[string]string{"l": "1"}).WithSpec(acappsv1.DeploymentSpec().WithReplicas(2).
			WithSelector(acmetav1.LabelSelector().WithMatchLabels(map[string]string{"a": "b"})).
			WithTemplate(accorev1.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).WithSpec(accorev1.PodSpec().WithContainers(accorev1.Container().WithName("c").WithImage("i").
				WithResources(accorev1.ResourceRequirements().WithRequests(corev1.ResourceList{"cpu": resource.MustParse("100m")}))))))
		must(t, "apply", c.Apply(ctx, d, client.FieldOwner("one")))
		d2 := acappsv1.Deployment("ssa", ns).WithSpec(acappsv1.DeploymentSpec().WithReplicas(5))
		err := c.Apply(ctx, d2, client.FieldOwner("two"))
		if !apierrors.IsConflict(err) {
			t.Errorf("want conflict got %v", err)
		} else {
			t.Log("ssa conflict:", err)
		}
		must(t, "force", c.Apply(ctx, d2, client.FieldOwner("two"), client.ForceOwnership))
		got := &appsv1.Deployment{}
		must(t, "get", c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "ssa"}, got))
		if *got.Spec.Replicas != 5 || len(got.ManagedFields) != 2 {
			t.Error(*got.Spec.Replicas, got.ManagedFields)
		}
		// extract and re-apply: nothing changes
		ex, err := acappsv1.ExtractDeployment(got, "one")
		must(t, "extract", err)
		if ex != nil {
			must(t, "re-apply", c.Apply(ctx, ex, client.FieldOwner("one"), client.ForceOwnership))
		}
		after := &appsv1.Deployment{}
		must(t, "get", c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "ssa"}, after))
		if after.ResourceVersion != got.ResourceVersion {
			t.Errorf("re-apply changed rv %s -> %s", got.ResourceVersion, after.ResourceVersion)
		}
		// status subresource by apply
		st := acappsv1.Deployment("ssa", ns).WithStatus(acappsv1.DeploymentStatus().WithReplicas(5).WithReadyReplicas(3))
		must(t, "status apply", c.Status().Apply(ctx, st, client.FieldOwner("st")))
		must(t, "get", c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "ssa"}, after))
		if after.Status.ReadyReplicas != 3 {
			t.Error("status", after.Status)
		}
		// patch form
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "ua", "namespace": ns}, "data": map[string]any{"k": "v"}}}
		must(t, "unstructured apply", c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("u")))
	})

	t.Run("subresources", func(t *testing.T) {
		d := &appsv1.Deployment{}
		must(t, "get", c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "ssa"}, d))
		s := &autoscalingv1.Scale{}
		must(t, "scale get", c.SubResource("scale").Get(ctx, d, s))
		s.Spec.Replicas = 7
		must(t, "scale update", c.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(s)))
		must(t, "get", c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "ssa"}, d))
		if *d.Spec.Replicas != 7 {
			t.Error(*d.Spec.Replicas)
		}
		d.Status.ObservedGeneration = d.Generation
		must(t, "status update", c.Status().Update(ctx, d))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: ns}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}, TerminationGracePeriodSeconds: new(int64)}}
		must(t, "pod", c.Create(ctx, pod))
		must(t, "bind", c.SubResource("binding").Create(ctx, pod, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: ns}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}))
		must(t, "ephemeral get", c.Get(ctx, client.ObjectKeyFromObject(pod), pod))
		pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "dbg", Image: "d"}})
		must(t, "ephemeral", c.SubResource("ephemeralcontainers").Update(ctx, pod))
		b := pod.DeepCopy()
		pod.Status.Phase = corev1.PodRunning
		must(t, "status patch", c.Status().Patch(ctx, pod, client.MergeFrom(b)))
		must(t, "evict", c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}))
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err == nil && pod.DeletionTimestamp == nil {
			t.Error("not evicted")
		}
		sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa", Namespace: ns}}
		must(t, "sa", c.Create(ctx, sa))
		tr := &authnv1.TokenRequest{}
		must(t, "KNOWN-GAP token request", c.SubResource("token").Create(ctx, sa, tr))
		ar := &authzv1.SelfSubjectAccessReview{Spec: authzv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authzv1.ResourceAttributes{Verb: "get", Resource: "pods"}}}
		must(t, "ssar", c.Create(ctx, ar))
		if !ar.Status.Allowed {
			t.Error("ssar not allowed")
		}
	})

	t.Run("lists", func(t *testing.T) {
		for i := range 25 {
			must(t, "cm", c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("l%02d", i), Namespace: ns, Labels: map[string]string{"n": fmt.Sprint(i % 3), "list": "yes"}}}))
		}
		n := 0
		l := &corev1.ConfigMapList{}
		for {
			must(t, "page", c.List(ctx, l, client.InNamespace(ns), client.MatchingLabels{"list": "yes"}, client.Limit(10), client.Continue(l.Continue)))
			n += len(l.Items)
			if l.Continue == "" {
				break
			}
		}
		if n != 25 {
			t.Error(n)
		}
		must(t, "field", c.List(ctx, l, client.InNamespace(ns), client.MatchingFields{"metadata.name": "l03"}))
		if len(l.Items) != 1 {
			t.Error(len(l.Items))
		}
		ml := &metav1.PartialObjectMetadataList{}
		ml.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
		must(t, "meta list", c.List(ctx, ml, client.InNamespace(ns), client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(labels.Set{"n": "1"})}))
		if len(ml.Items) != 8 {
			t.Error(len(ml.Items))
		}
		ul := &unstructured.UnstructuredList{}
		ul.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
		must(t, "unstructured", c.List(ctx, ul, client.InNamespace(ns), client.MatchingLabels{"list": "yes"}))
		if len(ul.Items) != 25 {
			t.Error(len(ul.Items))
		}
		must(t, "deleteallof", c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(ns), client.MatchingLabels{"n": "0"}))
		must(t, "list", c.List(ctx, l, client.InNamespace(ns), client.MatchingLabels{"list": "yes"}))
		if len(l.Items) != 16 {
			t.Error(len(l.Items))
		}
		x := l.Items[0]
		uid := types.UID("00000000-0000-0000-0000-000000000000")
		if err := c.Delete(ctx, &x, client.Preconditions{UID: &uid}); !apierrors.IsConflict(err) {
			t.Errorf("precondition: %v", err)
		}
	})

	t.Run("manager", func(t *testing.T) {
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			LeaderElection: true, LeaderElectionID: "probe-leader", LeaderElectionNamespace: ns, LeaderElectionReleaseOnCancel: true,
			Metrics: metricsserver.Options{BindAddress: "0"},
			Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
				&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{"watched": "yes"}), Field: fields.OneTermEqualSelector("type", "Opaque")},
			}, DefaultNamespaces: map[string]cache.Config{ns: {}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		must(t, "index", mgr.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "data.kind", func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["kind"]} }))
		mc := mgr.GetClient()
		recorder := mgr.GetEventRecorder("probe")
		reconciles := 0
		err = builder.ControllerManagedBy(mgr).Named("probe-" + ns).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).WatchesMetadata(&corev1.Pod{}, handlerNone()).
			Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				cm := &corev1.ConfigMap{}
				if err := mc.Get(ctx, r.NamespacedName, cm); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				if cm.Data["kind"] != "app" {
					return reconcile.Result{}, nil
				}
				reconciles++
				const fin = "probe.example.com/fin"
				if cm.DeletionTimestamp != nil {
					if controllerutil.RemoveFinalizer(cm, fin) {
						return reconcile.Result{}, mc.Update(ctx, cm)
					}
					return reconcile.Result{}, nil
				}
				if controllerutil.AddFinalizer(cm, fin) {
					if err := mc.Update(ctx, cm); err != nil {
						return reconcile.Result{}, err
					}
				}
				d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: cm.Name, Namespace: cm.Namespace}}
				op, err := controllerutil.CreateOrUpdate(ctx, mc, d, func() error {
					d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"x": cm.Name}}
					d.Spec.Template.Labels = map[string]string{"x": cm.Name}
					if len(d.Spec.Template.Spec.Containers) == 0 {
						d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
					}
					d.Spec.Template.Spec.Containers[0].Image = cm.Data["image"]
					return controllerutil.SetControllerReference(cm, d, mgr.GetScheme())
				})
				if err != nil {
					return reconcile.Result{}, err
				}
				if op != controllerutil.OperationResultNone {
					recorder.Eventf(cm, d, corev1.EventTypeNormal, "Applied", "Apply", "deployment %s", op)
				}
				return reconcile.Result{}, nil
			}))
		must(t, "builder", err)
		mctx, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- mgr.Start(mctx) }()
		select {
		case <-mgr.Elected():
		case <-time.After(20 * time.Second):
			t.Error("not elected")
		}
		if !mgr.GetCache().WaitForCacheSync(mctx) {
			t.Error("cache did not sync")
		}
		for i := range 10 {
			must(t, "create", c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app%d", i), Namespace: ns}, Data: map[string]string{"kind": "app", "image": "one"}}))
		}
		all := func(image string) error {
			l := &appsv1.DeploymentList{}
			if err := mc.List(ctx, l, client.InNamespace(ns)); err != nil {
				return err
			}
			n := 0
			for _, d := range l.Items {
				if d.Spec.Template.Spec.Containers[0].Image == image && metav1.GetControllerOf(&d) != nil {
					n++
				}
			}
			if n != 10 {
				return fmt.Errorf("%d deployments", n)
			}
			return nil
		}
		eventually(t, "deployments", 20*time.Second, func() error { return all("one") })
		il := &corev1.ConfigMapList{}
		must(t, "index list", mc.List(ctx, il, client.MatchingFields{"data.kind": "app"}))
		if len(il.Items) != 10 {
			t.Error("index", len(il.Items))
		}
		for i := range 10 {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app%d", i), Namespace: ns}}
			must(t, "patch", c.Patch(ctx, cm, client.RawPatch(types.MergePatchType, []byte(`{"data":{"image":"two"}}`))))
		}
		eventually(t, "updated", 20*time.Second, func() error { return all("two") })
		// metadata, unstructured and selected caches
		pm := &metav1.PartialObjectMetadata{}
		pm.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		must(t, "meta get", mc.Get(ctx, client.ObjectKey{Namespace: ns, Name: "app1"}, pm))
		for _, s := range []*corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Name: "s1", Namespace: ns, Labels: map[string]string{"watched": "yes"}}}, {ObjectMeta: metav1.ObjectMeta{Name: "s2", Namespace: ns}}} {
			must(t, "secret", c.Create(ctx, s))
		}
		sl := &corev1.SecretList{}
		eventually(t, "secret cache", 10*time.Second, func() error {
			if err := mc.List(ctx, sl); err != nil {
				return err
			}
			if len(sl.Items) != 1 {
				return fmt.Errorf("%d secrets", len(sl.Items))
			}
			return nil
		})
		// finalizer
		must(t, "delete", c.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app0", Namespace: ns}}))
		eventually(t, "finalized", 10*time.Second, func() error {
			err := c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "app0"}, &corev1.ConfigMap{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.New("still there")
		})
		ev := &unstructured.UnstructuredList{}
		ev.SetGroupVersionKind(schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "EventList"})
		eventually(t, "events", 10*time.Second, func() error {
			if err := c.List(ctx, ev, client.InNamespace(ns), client.MatchingFields{"reason": "Applied"}); err != nil {
				return err
			}
			if len(ev.Items) < 10 {
				return fmt.Errorf("%d events", len(ev.Items))
			}
			return nil
		})
		// second manager must wait for the lease, then get it
		mgr2, err := ctrl.NewManager(cfg, ctrl.Options{LeaderElection: true, LeaderElectionID: "probe-leader", LeaderElectionNamespace: ns, Metrics: metricsserver.Options{BindAddress: "0"}, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}}})
		must(t, "mgr2", err)
		m2ctx, cancel2 := context.WithCancel(ctx)
		done2 := make(chan error, 1)
		go func() { done2 <- mgr2.Start(m2ctx) }()
		select {
		case <-mgr2.Elected():
			t.Error("two leaders")
		case <-time.After(3 * time.Second):
		}
		cancel()
		must(t, "manager end", <-done)
		s := time.Now()
		select {
		case <-mgr2.Elected():
			t.Logf("second leader after %v", time.Since(s))
		case <-time.After(20 * time.Second):
			t.Error("second not elected")
		}
		cancel2()
		must(t, "manager2 end", <-done2)
		t.Logf("%d reconciles", reconciles)
	})
	t.Run("http", func(t *testing.T) {
		h, err := rest.HTTPClientFor(cfg)
		must(t, "client", err)
		r, err := h.Get(strings.TrimSuffix(cfg.Host, "/") + "/healthz")
		must(t, "get", err)
		if r != nil {
			t.Logf("proto %s status %d", r.Proto, r.StatusCode)
			if r.StatusCode != http.StatusOK {
				t.Error(r.Status)
			}
			r.Body.Close()
		}
	})
	_ = scheme.Scheme
}
