/** What the words are filled in with. */
export interface Figures {
  readonly steps: number;
  readonly gaps: number;
  readonly conformance: number;
}

/** A thing that users do, whether they can do it here, and what is to be known of it. */
type Task = readonly [task: string, works: "yes" | "partly" | "no", remark: string];

const TASKS: readonly Task[] = [
  [
    "kubectl, helm and clients of any language: create, read, list, watch, patch, apply, delete",
    "yes",
    "answers, defaults, refusals, warnings, managed fields and resource versions as there",
  ],
  ["every built-in kind of 1.37", "yes", "and versions that 1.37 no longer serves"],
  [
    "CustomResourceDefinitions: schemas, defaults, CEL rules, versions, conversion webhooks, scale and status",
    "yes",
    "",
  ],
  [
    "users, tokens, certificates, OpenID Connect, RBAC, impersonation, the Node authorizer",
    "yes",
    "RBAC is on without being asked for; ABAC is refused",
  ],
  [
    "admission: policies in CEL, webhooks, Pod Security, LimitRanges, PriorityClasses",
    "yes",
    "[the plugins that there are](reference/admission-plugins.md)",
  ],
  ["audit, metrics, health checks, OpenAPI, kubectl explain", "yes", "descriptions are in our own words"],
  ["extension servers behind APIServices", "yes", ""],
  ["tests with envtest", "yes", "[go.md](go.md)"],
  ["several servers on one etcd, also beside kube-apiserver", "yes", "in its layout; values are written as JSON"],
  ["deleting Namespaces and owners, service accounts, aggregated roles", "yes", "these loops run inside of the server"],
  [
    "Deployments, StatefulSets, DaemonSets, Jobs and CronJobs that make Pods",
    "partly",
    "their objects are validated, stored and watched; nothing is made of them unless the real kube-controller-manager runs beside it",
  ],
  [
    "ResourceQuotas, PodDisruptionBudgets, EndpointSlices, HorizontalPodAutoscalers, certificates of CertificateSigningRequests",
    "partly",
    "the same: [what each controller does, and what is missing without it](reference/controllers.md)",
  ],
  [
    "logs, exec, attach, port-forward, proxies",
    "partly",
    "where a kubelet runs the pod, or a function stands in its place ([connect.md](connect.md))",
  ],
  ["running containers", "no", "there is no scheduler and no kubelet: Pods stay Pending"],
  ["priority and fairness", "no", "its objects are there, and no request waits in a queue"],
  ["encryption at rest, egress selectors, tracing", "no", "their flags are refused"],
  [
    "flags and feature gates of kube-apiserver",
    "partly",
    "[flags](reference/flags.md), [feature gates](reference/feature-gates.md); what is not there is refused at the start rather than ignored",
  ],
];

/** What stands before all lists: what works, what is different on purpose and what is missing. */
export function compatibilityWords({ steps, gaps, conformance }: Figures): string[] {
  const differing = gaps === 1 ? "1 differs" : `${gaps} differ`;
  return [
    "# Compatibility",
    "",
    "Written by `npm run docs:compatibility`; never edited by hand.",
    "",
    "Binnacle answers as kube-apiserver of release 1.37 does: the same paths, bodies, codes and words, so that a client does not notice. It is an API server and no cluster.",
    "",
    "| what you do | works | to be known |",
    "|---|---|---|",
    ...TASKS.map((cells) => `| ${cells.join(" | ")} |`),
    "",
    "Different on purpose, in one sentence each ([below](#where-we-differ-on-purpose) in full):",
    "",
    "- **Safer from the start**: RBAC and NodeRestriction are on, the server listens on loopback only, a revoked token ends at once, and no audit log has a secret.",
    "- **Bounded**: bodies, nesting, headers, refusals and waiting requests have limits that the real server does not have, or larger ones.",
    "- **Open to custom objects**: groups that nobody owns take objects without a definition, unless `--custom-objects=defined` is given; `binnacle envtest` and `binnacle/testing` give it.",
    "",
    `How it is known: ${steps} requests were recorded with the answers of the real server and are replayed in CI (${differing}); all ${conformance} official conformance tests that need nothing but an API server pass; and`,
    "fuzzers send both servers random objects, patches, definitions, expressions and policies and compare the answers ([internals/testing.md](internals/testing.md)).",
    "",
  ];
}
