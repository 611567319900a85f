package suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubeapitest.junit.EnableKubeAPIServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A suite as users of kube-api-test write them: one server for the class, and a client that it is given. */
@EnableKubeAPIServer
class ServerTest {
  static KubernetesClient client;

  private static ConfigMap map(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata().withName(name).withNamespace("default").endMetadata()
        .withData(Map.of("key", "1"))
        .build();
  }

  @Test
  void objectsAreCreatedChangedAndDeleted() {
    client.resource(map("a")).create();
    client.configMaps().inNamespace("default").withName("a").edit(found -> {
      found.getData().put("more", "2");
      return found;
    });
    assertEquals(Map.of("key", "1", "more", "2"), client.resource(map("a")).get().getData());
    assertEquals(409, assertThrows(KubernetesClientException.class, () -> client.resource(map("a")).create()).getCode());
    client.resource(map("a")).delete();
    assertNull(client.resource(map("a")).get());
  }

  @Test
  void appliedObjectsHaveAManager() {
    ConfigMap applied = client.resource(map("applied")).serverSideApply();
    assertEquals("Apply", applied.getMetadata().getManagedFields().get(0).getOperation());
  }

  @Test
  void anInformerHears() throws Exception {
    CompletableFuture<String> heard = new CompletableFuture<>();
    try (var informer = client.configMaps().inNamespace("default").withLabel("heard").runnableInformer(0)) {
      informer.addEventHandler(new io.fabric8.kubernetes.client.informers.ResourceEventHandler<>() {
        @Override
        public void onAdd(ConfigMap found) {
          heard.complete(found.getMetadata().getName());
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap after) {}

        @Override
        public void onDelete(ConfigMap found, boolean isUnknown) {}
      });
      informer.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
      client.resource(map("heard").edit().editMetadata().addToLabels("heard", "yes").endMetadata().build()).create();
      assertEquals("heard", heard.get(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void customObjectsFollowTheirDefinition() {
    var spec = new JSONSchemaPropsBuilder()
        .withType("object")
        .addToProperties("size", new JSONSchemaPropsBuilder().withType("integer").build())
        .build();
    var schema = new JSONSchemaPropsBuilder().withType("object").addToProperties("spec", spec).build();
    var definition = new CustomResourceDefinitionBuilder()
        .withNewMetadata().withName("beans.suite.example.com").endMetadata()
        .withNewSpec()
        .withGroup("suite.example.com").withScope("Namespaced")
        .withNewNames().withPlural("beans").withKind("Bean").endNames()
        .addNewVersion().withName("v1").withServed(true).withStorage(true)
        .withNewSchema().withOpenAPIV3Schema(schema).endSchema().endVersion()
        .endSpec().build();
    client.resource(definition).create();
    client.resource(definition).waitUntilCondition(
        found -> found != null && found.getStatus() != null && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True")),
        60, TimeUnit.SECONDS);
    var bean = client.genericKubernetesResources("suite.example.com/v1", "Bean").inNamespace("default")
        .load(new java.io.ByteArrayInputStream(bean("b", "3").getBytes())).create();
    assertEquals(Map.of("size", 3), bean.getAdditionalProperties().get("spec"));
    var refusal = assertThrows(KubernetesClientException.class,
        () -> client.genericKubernetesResources("suite.example.com/v1", "Bean").inNamespace("default")
            .load(new java.io.ByteArrayInputStream(bean("c", "large").getBytes())).create());
    assertEquals(422, refusal.getCode());
  }

  private static String bean(String name, String size) {
    return "apiVersion: suite.example.com/v1\nkind: Bean\nmetadata:\n  name: " + name + "\nspec:\n  size: " + size + "\n";
  }

  @Test
  void anAdministratorMayDoAnything() {
    assertTrue(client.rbac().clusterRoles().list().getItems().size() > 10);
  }
}
