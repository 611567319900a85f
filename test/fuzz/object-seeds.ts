import type { JsonObject } from "../../src/base/api/object.ts";

const PORTS = [{ name: "http", port: 80 }];
const TIME = "2021-01-01T00:00:00Z";
const MICRO_TIME = "2021-01-01T00:00:00.000000Z";

const claim = {
  devices: {
    requests: [
      {
        name: "one",
        exactly: {
          deviceClassName: "gpu.example.com",
          allocationMode: "ExactCount",
          count: 2,
          selectors: [{ cel: { expression: "true" } }],
          tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule" }],
          capacity: { requests: { memory: "1Gi" } },
        },
      },
      {
        name: "two",
        firstAvailable: [
          { name: "big", deviceClassName: "gpu.example.com" },
          { name: "small", deviceClassName: "gpu.example.com", allocationMode: "All" },
        ],
      },
    ],
    constraints: [{ requests: ["one"], matchAttribute: "gpu.example.com/model" }],
    config: [{ requests: ["one"], opaque: { driver: "gpu.example.com", parameters: { a: 1 } } }],
  },
};
const flatClaim = {
  devices: {
    requests: [
      { name: "one", deviceClassName: "gpu.example.com", count: 2, tolerations: [{ key: "a", operator: "Exists" }] },
      { name: "two", firstAvailable: [{ name: "big", deviceClassName: "gpu.example.com" }] },
    ],
    constraints: [{ matchAttribute: "gpu.example.com/model" }],
  },
};

const slice = { driver: "gpu.example.com", nodeName: "n1", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };
const device = {
  attributes: { model: { string: "a" }, count: { int: 3 }, "example.com/ok": { bool: true } },
  capacity: { memory: { value: "1Gi" } },
  taints: [{ key: "a", value: "b", effect: "NoSchedule" }],
};

const webhook = {
  name: "a.example.com",
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { service: { name: "s", namespace: "fuzz", path: "/x" } },
  rules: [{ operations: ["CREATE"], apiGroups: ["x.example.com"], apiVersions: ["v1"], resources: ["widgets"] }],
  namespaceSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
  matchConditions: [{ name: "one", expression: "true" }],
  timeoutSeconds: 5,
};

const policyRules = [
  { verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "deployments/scale"], resourceNames: ["a"] },
];

/** Bodies to start from besides those of the golden corpus, by group and plural, or with the version between them. */
export const OBJECT_SEEDS: Readonly<Record<string, readonly JsonObject[]>> = {
  services: [
    { spec: { type: "NodePort", ports: PORTS, externalTrafficPolicy: "Local" } },
    {
      spec: {
        type: "LoadBalancer",
        ports: PORTS,
        allocateLoadBalancerNodePorts: false,
        loadBalancerClass: "example.com/lb",
        loadBalancerSourceRanges: ["10.0.0.0/8"],
      },
    },
    { spec: { type: "ExternalName", externalName: "a.example.com" } },
    { spec: { clusterIP: "None", selector: { a: "b" } } },
    {
      spec: { ports: PORTS, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } } },
    },
    { spec: { ports: PORTS, externalIPs: ["192.0.2.7"], trafficDistribution: "PreferSameZone" } },
  ],
  nodes: [
    {
      spec: {
        podCIDR: "10.1.0.0/24",
        podCIDRs: ["10.1.0.0/24", "2001:db8::/64"],
        providerID: "x://1",
        taints: [{ key: "a", value: "b", effect: "NoSchedule" }],
        unschedulable: true,
      },
      status: { capacity: { cpu: "2", memory: "4Gi", "example.com/gpu": "2" }, nodeInfo: { machineID: "m" } },
    },
  ],
  events: [
    {
      involvedObject: { kind: "Pod", namespace: "fuzz", name: "p" },
      reason: "R",
      message: "m",
      type: "Normal",
      count: 1,
      firstTimestamp: TIME,
      lastTimestamp: TIME,
      source: { component: "c", host: "h" },
    },
    {
      involvedObject: { kind: "Pod", namespace: "fuzz", name: "p" },
      reason: "R",
      type: "Warning",
      eventTime: MICRO_TIME,
      reportingComponent: "x.example.com/c",
      reportingInstance: "i",
      action: "A",
      series: { count: 2, lastObservedTime: MICRO_TIME },
      related: { kind: "Node", name: "n" },
    },
  ],
  "events.k8s.io/events": [
    {
      regarding: { kind: "Pod", namespace: "fuzz", name: "p" },
      reason: "R",
      type: "Warning",
      eventTime: MICRO_TIME,
      reportingController: "x.example.com/c",
      reportingInstance: "i",
      action: "A",
      note: "n",
      series: { count: 2, lastObservedTime: MICRO_TIME },
      related: { kind: "Node", name: "n" },
    },
  ],
  "apiregistration.k8s.io/apiservices": [
    {
      metadata: { name: "v1.x.example.com" },
      spec: {
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { name: "s", namespace: "fuzz", port: 443 },
      },
    },
  ],
  "autoscaling/horizontalpodautoscalers": [
    {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [
          { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1" } } },
          {
            type: "ContainerResource",
            containerResource: {
              name: "cpu",
              container: "c",
              target: { type: "Utilization", averageUtilization: 50 },
            },
          },
          {
            type: "Object",
            object: {
              describedObject: { kind: "Service", name: "s", apiVersion: "v1" },
              metric: { name: "m", selector: { matchLabels: { a: "b" } } },
              target: { type: "Value", value: "10" },
            },
          },
        ],
        behavior: {
          scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 30 }], stabilizationWindowSeconds: 10 },
          scaleDown: { selectPolicy: "Min" },
        },
      },
    },
  ],
  "discovery.k8s.io/endpointslices": [
    {
      addressType: "IPv4",
      endpoints: [
        {
          addresses: ["192.0.2.1"],
          conditions: { ready: true, serving: true, terminating: false },
          hostname: "h",
          nodeName: "n1",
          zone: "z",
          hints: { forZones: [{ name: "z" }] },
          targetRef: { kind: "Pod", name: "p" },
        },
      ],
      ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
    },
  ],
  "rbac.authorization.k8s.io/roles": [{ rules: policyRules }],
  "rbac.authorization.k8s.io/clusterroles": [
    { rules: [...policyRules, { verbs: ["get"], nonResourceURLs: ["/healthz", "/x/*"] }] },
  ],
  "rbac.authorization.k8s.io/clusterrolebindings": [
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "a", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "ServiceAccount", name: "default", namespace: "fuzz" },
      ],
    },
  ],
  "resource.k8s.io/v1/resourceclaims": [{ spec: claim }],
  "resource.k8s.io/v1beta1/resourceclaims": [{ spec: flatClaim }],
  "resource.k8s.io/v1/resourceclaimtemplates": [{ spec: { metadata: { labels: { a: "b" } }, spec: claim } }],
  "resource.k8s.io/v1beta1/resourceclaimtemplates": [{ spec: { spec: flatClaim } }],
  "resource.k8s.io/v1/resourceslices": [
    { spec: { ...slice, devices: [{ name: "d", ...device }, { name: "e" }] } },
    { spec: { ...slice, sharedCounters: [{ name: "c", counters: { memory: { value: "1Gi" } } }] } },
  ],
  "resource.k8s.io/v1beta1/resourceslices": [{ spec: { ...slice, devices: [{ name: "d", basic: device }] } }],
  "resource.k8s.io/deviceclasses": [
    {
      spec: {
        selectors: [{ cel: { expression: "true" } }],
        config: [{ opaque: { driver: "gpu.example.com", parameters: { a: 1 } } }],
        extendedResourceName: "example.com/gpu",
      },
    },
  ],
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": [{ webhooks: [webhook] }],
  "admissionregistration.k8s.io/validatingwebhookconfigurations": [
    { webhooks: [webhook, { ...webhook, name: "b.example.com", clientConfig: { url: "https://a.example.com/x" } }] },
  ],
  "flowcontrol.apiserver.k8s.io/flowschemas": [
    {
      spec: {
        priorityLevelConfiguration: { name: "x" },
        matchingPrecedence: 5000,
        distinguisherMethod: { type: "ByUser" },
        rules: [
          {
            subjects: [
              { kind: "User", user: { name: "nobody" } },
              { kind: "ServiceAccount", serviceAccount: { namespace: "fuzz", name: "*" } },
            ],
            resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["a"] }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
          },
        ],
      },
    },
  ],
  "scheduling.k8s.io/v1beta1/podgroups": [
    {
      spec: {
        workloadRef: { workloadName: "w", templateName: "t" },
        schedulingPolicy: { gang: { minCount: 2 } },
        disruptionMode: { all: {} },
        resourceClaims: [{ name: "a", resourceClaimName: "b" }],
      },
    },
  ],
  "scheduling.k8s.io/v1beta1/workloads": [
    {
      spec: {
        controllerRef: { apiGroup: "apps", kind: "Deployment", name: "d" },
        podGroupTemplates: [
          { name: "a", schedulingPolicy: { basic: {} }, priority: 3 },
          { name: "b", schedulingPolicy: { gang: { minCount: 2 } }, disruptionMode: { single: {} }, priority: 3 },
        ],
      },
    },
  ],
};
