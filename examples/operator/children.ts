import { createHash } from "node:crypto";
import type { V1ConfigMap, V1Deployment, V1ObjectMeta, V1Service } from "@kubernetes/client-node";
import type { Website } from "./website.ts";

/** Label of all objects that belong to a website. Its value is the name of the website. */
export const LABEL = "web.example/website";

/** The page, as a file for the web server. */
export function configMapOf(website: Website): V1ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(website),
    data: { "index.html": website.spec.html },
  };
}

/** The web server. A changed page changes an annotation of its Pods, so that they are replaced. */
export function deploymentOf(website: Website): V1Deployment {
  const { html, image, replicas } = website.spec;
  const metadata = metadataOf(website);
  const { name, labels } = metadata;
  const annotations = { "web.example/page": createHash("sha256").update(html).digest("hex").slice(0, 16) };
  const volumeMounts = [{ name: "page", mountPath: "/usr/share/nginx/html" }];
  const containers = [{ name: "web", image, ports: [{ containerPort: 80 }], volumeMounts }];
  const volumes = [{ name: "page", configMap: { name } }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers, volumes } },
    },
  };
}

export function serviceOf(website: Website): V1Service {
  const metadata = metadataOf(website);
  const ports = [{ port: 80, targetPort: 80 }];
  return { apiVersion: "v1", kind: "Service", metadata, spec: { selector: metadata.labels, ports } };
}

/** The owner reference makes Kubernetes delete the object together with its website. */
function metadataOf({
  apiVersion = "",
  kind = "",
  metadata,
}: Website): V1ObjectMeta & { name: string; labels: Record<string, string> } {
  const { name = "", namespace = "", uid = "" } = metadata ?? {};
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return { name, namespace, labels: { [LABEL]: name }, ownerReferences: [owner] };
}
