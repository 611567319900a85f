"""What a program with the official Python client does: one line for each step that went as it should."""

import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "journey-python"


def ok(step):
    print("ok", step, flush=True)


def status_of(call):
    try:
        call()
    except ApiException as error:
        return error.status
    return 200


def until(what, is_done):
    for _ in range(600):
        if is_done():
            return
        time.sleep(0.1)
    raise AssertionError("never: " + what)


def config_map(name, value):
    metadata = client.V1ObjectMeta(name=name, labels={"app": "journey"})
    return client.V1ConfigMap(metadata=metadata, data={"key": value})


def main():
    config.load_kube_config()
    core, apps = client.CoreV1Api(), client.AppsV1Api()
    assert client.VersionApi().get_code().major == "1"
    ok("version")

    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    core.create_namespaced_config_map(NAMESPACE, config_map("a", "1"))
    ok("create")
    assert status_of(lambda: core.create_namespaced_config_map(NAMESPACE, config_map("a", "1"))) == 409
    assert status_of(lambda: core.read_namespaced_config_map("none", NAMESPACE)) == 404
    ok("errors")

    found = core.list_namespaced_config_map(NAMESPACE, label_selector="app=journey")
    assert [item.metadata.name for item in found.items] == ["a"]
    ok("list")

    patched = core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"more": "2"}})
    assert patched.data == {"key": "1", "more": "2"}
    ok("patch")

    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"mine": "yes"}}
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    applied = maps.server_side_apply(body=body, name="b", namespace=NAMESPACE, field_manager="journey")
    assert [(entry.manager, entry.operation) for entry in applied.metadata.managedFields] == [("journey", "Apply")]
    ok("apply")

    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

    def write():
        core.create_namespaced_config_map(NAMESPACE, config_map("c", "1"))
        core.patch_namespaced_config_map("c", NAMESPACE, {"data": {"key": "2"}})
        core.delete_namespaced_config_map("c", NAMESPACE)

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    stream = watch.Watch()
    events = stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=60)
    for event in events:
        if event["object"].metadata.name == "c":
            seen.append(event["type"])
        if seen[-1:] == ["DELETED"]:
            stream.stop()
    writer.join()
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen
    ok("watch")

    labels = {"app": "web"}
    container = client.V1Container(name="web", image="registry.example/web:1")
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)
    apps.create_namespaced_deployment(
        NAMESPACE, client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    )
    apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 3}})
    assert apps.read_namespaced_deployment("web", NAMESPACE).spec.replicas == 3
    ok("scale")

    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    definition = {
        "metadata": {"name": "pythons.journey.example.com"},
        "spec": {
            "group": "journey.example.com",
            "scope": "Namespaced",
            "names": {"plural": "pythons", "kind": "Python"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    definitions, custom = client.ApiextensionsV1Api(), client.CustomObjectsApi()
    definitions.create_custom_resource_definition(definition)

    def is_established():
        conditions = definitions.read_custom_resource_definition("pythons.journey.example.com").status.conditions or []
        return any(one.type == "Established" and one.status == "True" for one in conditions)

    until("the definition is established", is_established)
    where = ("journey.example.com", "v1", NAMESPACE, "pythons")
    body = {"apiVersion": "journey.example.com/v1", "kind": "Python", "metadata": {"name": "p"}, "spec": {"size": 3, "odd": 1}}
    assert custom.create_namespaced_custom_object(*where, body)["spec"] == {"size": 3}
    body["metadata"]["name"], body["spec"] = "q", {"size": "large"}
    assert status_of(lambda: custom.create_namespaced_custom_object(*where, body)) == 422
    definitions.delete_custom_resource_definition("pythons.journey.example.com")
    ok("custom objects")

    core.delete_namespace(NAMESPACE)
    until("the namespace is gone", lambda: status_of(lambda: core.read_namespace(NAMESPACE)) == 404)
    ok("delete")


main()
