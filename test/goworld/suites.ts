/** Test suites in Go that start their API server by envtest. */
export interface GoSuite {
  readonly name: string;
  /** A Go module, such as example.com/x@v1.2.3, or a folder beside this file. */
  readonly source: string;
  /** Packages of it that use envtest. */
  readonly packages: readonly string[];
  /** Modules that its go.mod looks for in folders that are no part of it: by their names, where they are instead. */
  readonly replaced?: Readonly<Record<string, string>>;
}

/** All suites, in the order in which they run. */
export const SUITES: readonly GoSuite[] = [
  { name: "probe", source: "probe", packages: ["."] },
  {
    name: "controller-runtime",
    source: "sigs.k8s.io/controller-runtime@v0.25.2",
    packages: [
      "pkg/builder",
      "pkg/cache",
      "pkg/client",
      "pkg/client/apiutil",
      "pkg/cluster",
      "pkg/controller",
      "pkg/controller/controllerutil",
      "pkg/envtest",
      "pkg/handler",
      "pkg/internal/controller",
      "pkg/internal/recorder",
      "pkg/internal/testing/controlplane",
      "pkg/manager",
      "pkg/manager/internal/integration",
      "pkg/metrics/filters",
      "pkg/reconcile",
      "pkg/source",
      "pkg/webhook",
    ],
  },
  {
    name: "trust-manager",
    source: "github.com/cert-manager/trust-manager@v0.25.0",
    packages: ["test/integration/bundle", "test/integration/clusterbundle"],
  },
  {
    name: "gatekeeper",
    source: "github.com/open-policy-agent/gatekeeper/v3@v3.23.1",
    // Without pkg/controller/constrainttemplate: it waits for v1beta1 of ValidatingAdmissionPolicy, which 1.37 does not serve.
    packages: [
      "pkg/cachemanager",
      "pkg/cachemanager/cachemanager_test",
      "pkg/controller/config",
      "pkg/controller/connectionstatus",
      "pkg/controller/constrainttemplatestatus",
      "pkg/controller/expansion",
      "pkg/controller/externaldata",
      "pkg/controller/externaldatastatus",
      "pkg/controller/mutators/core",
      "pkg/controller/syncset",
      "pkg/controller/webhookconfig",
      "pkg/readiness",
      "pkg/readiness/pruner",
      "pkg/watch",
    ],
  },
  {
    name: "cluster-api",
    source: "sigs.k8s.io/cluster-api@v1.14.2",
    packages: [
      "controllers/clustercache",
      "controllers/crdmigrator",
      "core/reconcilers/cluster",
      "core/reconcilers/clusterclass",
      "core/reconcilers/clusterresourceset",
      "core/reconcilers/extensionconfig",
      "core/reconcilers/machine",
      "core/reconcilers/machinedeployment",
      "core/webhooks/admission/test",
      "internal/util/ssa/test",
      "util/patch/test",
    ],
    replaced: { "sigs.k8s.io/cluster-api/api": "sigs.k8s.io/cluster-api/api@v1.14.2" },
  },
];
