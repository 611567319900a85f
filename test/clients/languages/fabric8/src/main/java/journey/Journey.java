package journey;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What a program with the fabric8 client does: one line for each step that went as it should. */
public final class Journey {
  private static final String NAMESPACE = "journey-java";

  private static void ok(String step) {
    System.out.println("ok " + step);
  }

  private static void check(boolean holds, Object what) {
    if (!holds) throw new AssertionError(String.valueOf(what));
  }

  private static int statusOf(Runnable call) {
    try {
      call.run();
      return 200;
    } catch (KubernetesClientException error) {
      return error.getCode();
    }
  }

  private static void until(String what, BooleanSupplier isDone) throws InterruptedException {
    for (int turn = 0; turn < 600; turn++) {
      if (isDone.getAsBoolean()) return;
      Thread.sleep(100);
    }
    throw new AssertionError("never: " + what);
  }

  private static ConfigMap configMap(String name, String value) {
    return new ConfigMapBuilder()
        .withNewMetadata().withName(name).withNamespace(NAMESPACE).addToLabels("app", "journey").endMetadata()
        .addToData("key", value)
        .build();
  }

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      check("1".equals(client.getKubernetesVersion().getMajor()), "major");
      ok("version");

      client.namespaces().resource(new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build()).create();
      var maps = client.configMaps().inNamespace(NAMESPACE);
      maps.resource(configMap("a", "1")).create();
      ok("create");
      check(statusOf(() -> maps.resource(configMap("a", "1")).create()) == 409, "409");
      check(maps.withName("none").get() == null, "404");
      ok("errors");

      List<ConfigMap> found = maps.withLabel("app", "journey").list().getItems();
      check(found.size() == 1 && found.get(0).getMetadata().getName().equals("a"), found);
      ok("list");

      ConfigMap patched = maps.withName("a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"more\":\"2\"}}");
      check(patched.getData().equals(Map.of("key", "1", "more", "2")), patched.getData());
      ok("patch");

      ConfigMap applied = maps.resource(configMap("b", "yes")).fieldManager("journey").serverSideApply();
      check(applied.getMetadata().getManagedFields().get(0).getManager().equals("journey"), applied.getMetadata());
      ok("apply");

      List<String> seen = new CopyOnWriteArrayList<>();
      CountDownLatch deleted = new CountDownLatch(1);
      Watcher<ConfigMap> watcher = new Watcher<>() {
        @Override
        public void eventReceived(Action action, ConfigMap object) {
          seen.add(action.name());
          if (action == Action.DELETED) deleted.countDown();
        }

        @Override
        public void onClose(WatcherException cause) {}
      };
      try (var watch = maps.withName("c").watch(watcher)) {
        maps.resource(configMap("c", "1")).create();
        maps.withName("c").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"key\":\"2\"}}");
        maps.withName("c").delete();
        check(deleted.await(60, TimeUnit.SECONDS), seen);
      }
      check(seen.equals(List.of("ADDED", "MODIFIED", "DELETED")), seen);
      ok("watch");

      try (SharedIndexInformer<ConfigMap> informer = maps.withLabel("app", "journey").inform()) {
        until("the informer knows both", () -> informer.getStore().list().size() == 2);
      }
      ok("informer");

      client.apps().deployments().inNamespace(NAMESPACE).resource(new DeploymentBuilder()
          .withNewMetadata().withName("web").endMetadata()
          .withNewSpec().withNewSelector().addToMatchLabels("app", "web").endSelector()
          .withNewTemplate().withNewMetadata().addToLabels("app", "web").endMetadata()
          .withNewSpec().addNewContainer().withName("web").withImage("registry.example/web:1").endContainer().endSpec()
          .endTemplate().endSpec().build()).create();
      client.apps().deployments().inNamespace(NAMESPACE).withName("web").scale(3);
      check(client.apps().deployments().inNamespace(NAMESPACE).withName("web").get().getSpec().getReplicas() == 3, "3");
      ok("scale");

      customObjects(client);
      ok("custom objects");

      client.namespaces().withName(NAMESPACE).delete();
      until("the namespace is gone", () -> client.namespaces().withName(NAMESPACE).get() == null);
      ok("delete");
    }
  }

  private static void customObjects(KubernetesClient client) throws InterruptedException {
    CustomResourceDefinition definition = Serialization.unmarshal("""
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: javas.journey.example.com}
        spec:
          group: journey.example.com
          scope: Namespaced
          names: {plural: javas, kind: Java}
          versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec: {type: object, properties: {size: {type: integer}}}
        """, CustomResourceDefinition.class);
    var definitions = client.apiextensions().v1().customResourceDefinitions();
    definitions.resource(definition).create();
    definitions.withName("javas.journey.example.com").waitUntilCondition(
        one -> one != null && one.getStatus() != null && one.getStatus().getConditions() != null
            && one.getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")),
        60, TimeUnit.SECONDS);
    var context = new ResourceDefinitionContext.Builder()
        .withGroup("journey.example.com").withVersion("v1").withKind("Java").withPlural("javas").withNamespaced(true).build();
    var objects = client.genericKubernetesResources(context).inNamespace(NAMESPACE);
    GenericKubernetesResource created = objects.resource(java("p", Map.of("size", 3, "odd", 1))).create();
    check(created.get("spec").equals(Map.of("size", 3)), created);
    check(statusOf(() -> objects.resource(java("q", Map.of("size", "large"))).create()) == 422, "422");
    definitions.withName("javas.journey.example.com").delete();
  }

  private static GenericKubernetesResource java(String name, Map<String, Object> spec) {
    GenericKubernetesResource object = new GenericKubernetesResource();
    object.setApiVersion("journey.example.com/v1");
    object.setKind("Java");
    object.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName(name).build());
    object.setAdditionalProperty("spec", spec);
    return object;
  }
}
