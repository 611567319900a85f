import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { Controller, ControllerContext } from "../shared/controller.ts";
import type { Credentials } from "../shared/credentials.ts";
import { keepInNamespaces, type NamespaceFixture } from "./namespace/namespace-fixture.ts";

const NAME = "root-ca-certificate-publisher-controller";
const OBJECT_NAME = "kube-root-ca.crt";
const MEMBER = "ca.crt";
const ANNOTATION = "kubernetes.io/description";
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/**
 * root-ca-certificate-publisher-controller: keeps the ConfigMap kube-root-ca.crt with the server's CA (PEM) in every
 * active Namespace.
 */
export function rootCaPublisher(
  context: ControllerContext,
  { rootCa: caPem }: Pick<Credentials, "rootCa">,
): Controller {
  const fixture: NamespaceFixture = {
    controller: NAME,
    plural: "configmaps",
    objectName: OBJECT_NAME,
    make: () => ({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: OBJECT_NAME, annotations: { [ANNOTATION]: DESCRIPTION } },
      data: { [MEMBER]: caPem },
    }),
    isRight: (current) => isRight(current, caPem),
    repair: (current) => {
      current.data = { [MEMBER]: caPem };
      current.metadata.annotations = { ...current.metadata.annotations, [ANNOTATION]: DESCRIPTION };
    },
  };
  return {
    name: NAME,
    run: (signal) => keepInNamespaces(context, fixture, signal),
  };
}

/**
 * Compat: other members of `data` of kube-root-ca.crt are removed. `binaryData`, and any other text in the annotation
 * kubernetes.io/description, are not touched.
 */
function isRight({ data, metadata }: KubeObject, caPem: string): boolean {
  const members = isObject(data) ? Object.keys(data) : [];
  if (members.length !== 1 || !isObject(data) || data[MEMBER] !== caPem) return false;
  return (metadata.annotations?.[ANNOTATION] ?? "") !== "";
}
