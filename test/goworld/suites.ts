/** Test suites in Go that start their API server by envtest. */
export interface GoSuite {
  readonly name: string;
  /** A Go module, such as example.com/x@v1.2.3, or a folder beside this file. */
  readonly source: string;
  /** Packages of it that use envtest. */
  readonly packages: readonly string[];
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
];
