//! What a program with kube-rs does: one line for each step that went as it should.

use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::Client;
use serde_json::{from_value, json, Value};

const NAMESPACE: &str = "journey-rust";

fn ok(step: &str) {
    println!("ok {step}");
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    from_value(json!({ "metadata": { "name": name, "labels": { "app": "journey" } }, "data": { "key": value } })).unwrap()
}

fn code_of<T: std::fmt::Debug>(answer: kube::Result<T>) -> u16 {
    match answer {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    assert_eq!(client.apiserver_version().await?.major, "1");
    ok("version");

    let post = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&post, &from_value(json!({ "metadata": { "name": NAMESPACE } }))?).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    maps.create(&post, &config_map("a", "1")).await?;
    ok("create");
    assert_eq!(code_of(maps.create(&post, &config_map("a", "1")).await), 409);
    assert_eq!(code_of(maps.get("none").await), 404);
    ok("errors");

    let found = maps.list(&ListParams::default().labels("app=journey")).await?;
    assert_eq!(found.items.len(), 1);
    ok("list");

    let more = json!({ "data": { "more": "2" } });
    let patched = maps.patch("a", &PatchParams::default(), &Patch::Merge(&more)).await?;
    assert_eq!(patched.data.unwrap().len(), 2);
    ok("patch");

    let mine = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": { "mine": "yes" } });
    let applied = maps.patch("b", &PatchParams::apply("journey"), &Patch::Apply(&mine)).await?;
    let managers = applied.metadata.managed_fields.unwrap();
    assert_eq!(managers[0].manager.as_deref(), Some("journey"));
    ok("apply");

    let version = maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap();
    let mut events = Box::pin(maps.watch(&WatchParams::default().timeout(60), &version).await?);
    maps.create(&post, &config_map("c", "1")).await?;
    maps.patch("c", &PatchParams::default(), &Patch::Merge(&json!({ "data": { "key": "2" } }))).await?;
    maps.delete("c", &DeleteParams::default()).await?;
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Added(_) => seen.push("ADDED"),
            WatchEvent::Modified(_) => seen.push("MODIFIED"),
            WatchEvent::Deleted(_) => {
                seen.push("DELETED");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, ["ADDED", "MODIFIED", "DELETED"]);
    ok("watch");

    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let mut events = Box::pin(watcher(maps.clone(), config));
        let mut known = 0;
        while let Some(event) = events.try_next().await? {
            match event {
                watcher::Event::InitApply(_) => known += 1,
                watcher::Event::InitDone => break,
                _ => {}
            }
        }
        assert!(known >= 2, "{known}");
    }
    ok("informer");

    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let container = json!({ "name": "web", "image": "registry.example/web:1" });
    let template = json!({ "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [container] } });
    let spec = json!({ "selector": { "matchLabels": { "app": "web" } }, "template": template });
    deployments.create(&post, &from_value(json!({ "metadata": { "name": "web" }, "spec": spec }))?).await?;
    let three = json!({ "spec": { "replicas": 3 } });
    deployments.patch_scale("web", &PatchParams::default(), &Patch::Merge(&three)).await?;
    assert_eq!(deployments.get("web").await?.spec.replicas, Some(3));
    ok("scale");

    custom_objects(&client).await?;
    ok("custom objects");

    namespaces.delete(NAMESPACE, &DeleteParams::default()).await?;
    for _ in 0..600 {
        if namespaces.get_opt(NAMESPACE).await?.is_none() {
            ok("delete");
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("never: the namespace is gone");
}

async fn custom_objects(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
    let post = PostParams::default();
    let size = json!({ "type": "object", "properties": { "size": { "type": "integer" } } });
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "spec": size } } });
    let definition: CustomResourceDefinition = from_value(json!({
        "metadata": { "name": "rusts.journey.example.com" },
        "spec": {
            "group": "journey.example.com",
            "scope": "Namespaced",
            "names": { "plural": "rusts", "kind": "Rust" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    }))?;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&post, &definition).await?;
    let established = await_condition(definitions.clone(), "rusts.journey.example.com", conditions::is_crd_established());
    tokio::time::timeout(Duration::from_secs(60), established).await??;

    let kind = GroupVersionKind::gvk("journey.example.com", "v1", "Rust");
    let objects: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), NAMESPACE, &ApiResource::from_gvk_with_plural(&kind, "rusts"));
    let object = |name: &str, spec: Value| -> DynamicObject {
        let metadata = json!({ "name": name });
        from_value(json!({ "apiVersion": "journey.example.com/v1", "kind": "Rust", "metadata": metadata, "spec": spec })).unwrap()
    };
    let created = objects.create(&post, &object("p", json!({ "size": 3, "odd": 1 }))).await?;
    assert_eq!(created.data["spec"], json!({ "size": 3 }));
    assert_eq!(code_of(objects.create(&post, &object("q", json!({ "size": "large" }))).await), 422);
    definitions.delete("rusts.journey.example.com", &DeleteParams::default()).await?;
    Ok(())
}
