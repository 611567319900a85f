/** A project whose CustomResourceDefinitions are in its Go module. */
export interface Project {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** The hash that a go.sum would have of it. */
  readonly sum: string;
  /** Where in the module its definitions are. */
  readonly folders: readonly string[];
}

/** What is installed, at pinned versions: the newest that the Go release of `tools/` takes. */
export const PROJECTS: readonly Project[] = [
  {
    name: "gateway-api",
    module: "sigs.k8s.io/gateway-api",
    version: "v1.6.3",
    sum: "h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=",
    folders: ["config/crd/experimental"],
  },
  {
    name: "cert-manager",
    module: "github.com/cert-manager/cert-manager",
    version: "v1.21.2",
    sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
    folders: ["deploy/crds"],
  },
  {
    name: "argo-cd",
    module: "github.com/argoproj/argo-cd/v3",
    version: "v3.5.6",
    sum: "h1:twzdsPiPufKLRtEqD1Jg3FqtuZmSHLTIxs7t6fSkjlk=",
    folders: ["manifests/crds"],
  },
  {
    name: "prometheus-operator",
    module: "github.com/prometheus-operator/prometheus-operator",
    version: "v0.94.1",
    sum: "h1:QEIb2wenPH+SdMN1xMf8l4Pmj00YYXXI6HlbLlQWkww=",
    folders: ["example/prometheus-operator-crd"],
  },
  {
    name: "keda",
    module: "github.com/kedacore/keda/v2",
    version: "v2.21.0",
    sum: "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
    folders: ["config/crd/bases"],
  },
  {
    name: "cluster-api",
    module: "sigs.k8s.io/cluster-api",
    version: "v1.14.2",
    sum: "h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
    folders: [
      "core/config/crd/bases",
      "bootstrap/kubeadm/config/crd/bases",
      "controlplane/kubeadm/config/crd/bases",
      "cmd/clusterctl/config/crd/bases",
    ],
  },
  {
    name: "kustomize-controller",
    module: "github.com/fluxcd/kustomize-controller",
    version: "v1.9.6",
    sum: "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
    folders: ["config/crd/bases"],
  },
];
