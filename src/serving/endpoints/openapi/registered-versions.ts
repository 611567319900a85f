import type { GroupVersion } from "./openapi-schemas.ts";

/** Groups and their versions in the scheme of client-go, whether served or not. */
const CLIENT_SCHEME: Readonly<Record<string, readonly string[]>> = {
  "": ["v1"],
  "admissionregistration.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  apps: ["v1", "v1beta1", "v1beta2"],
  "authentication.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  "authorization.k8s.io": ["v1", "v1beta1"],
  autoscaling: ["v1", "v2"],
  batch: ["v1", "v1beta1"],
  "certificates.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  "coordination.k8s.io": ["v1", "v1alpha2", "v1beta1"],
  "discovery.k8s.io": ["v1", "v1beta1"],
  "events.k8s.io": ["v1", "v1beta1"],
  extensions: ["v1beta1"],
  "flowcontrol.apiserver.k8s.io": ["v1", "v1beta1", "v1beta2", "v1beta3"],
  "internal.apiserver.k8s.io": ["v1alpha1"],
  "lifecycle.k8s.io": ["v1alpha1"],
  "networking.k8s.io": ["v1", "v1beta1"],
  "node.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  policy: ["v1", "v1beta1"],
  "rbac.authorization.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  "resource.k8s.io": ["v1", "v1alpha3", "v1beta1", "v1beta2"],
  "scheduling.k8s.io": ["v1", "v1alpha3", "v1beta1"],
  "storage.k8s.io": ["v1", "v1alpha1", "v1beta1"],
  "storagemigration.k8s.io": ["v1", "v1beta1"],
};

/** Additional groups in the schemes of kube-apiserver. */
const SERVER_SCHEMES: Readonly<Record<string, readonly string[]>> = {
  ...CLIENT_SCHEME,
  "admission.k8s.io": ["v1", "v1beta1"],
  "apiextensions.k8s.io": ["v1", "v1beta1"],
  "apiregistration.k8s.io": ["v1", "v1beta1"],
  "imagepolicy.k8s.io": ["v1alpha1"],
};

/** Group versions that DeleteOptions and WatchEvent list in `x-kubernetes-group-version-kind` for custom kinds. */
export const CLIENT_VERSIONS: readonly GroupVersion[] = versionsOf(CLIENT_SCHEME);

/** The same for `/openapi/v2`. */
export const SERVER_VERSIONS: readonly GroupVersion[] = versionsOf(SERVER_SCHEMES);

function versionsOf(scheme: Readonly<Record<string, readonly string[]>>): GroupVersion[] {
  return Object.keys(scheme)
    .sort()
    .flatMap((group) => (scheme[group] ?? []).map((version) => ({ group, version })));
}
