import type { Json, JsonObject } from "../../src/base/api/object.ts";
import type { Random } from "./random.ts";

/** How patches of a kind may look: a small grammar whose words are known to mean something to the kind. */
export type Shape =
  | { readonly values: readonly Json[] }
  | { readonly map: readonly string[]; readonly of: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }
  /** A list merged by a key. */
  | { readonly keyed: string; readonly keys: readonly Json[]; readonly fields: Readonly<Record<string, Shape>> }
  /** A list of scalars that are merged. */
  | { readonly set: readonly string[] }
  | { readonly list: Shape };

/** Which language a patch is written in: directives belong to strategic merge patches only. */
export type Flavour = "merge" | "strategic" | "apply";

const text = (...values: readonly Json[]): Shape => ({ values });
const labels: Shape = { map: ["app", "tier", "x.example.com/y"], of: text("a", "b", "") };

const metadata: Shape = {
  fields: {
    labels,
    annotations: { map: ["note", "e.example.com/n"], of: text("1", "2", "") },
    finalizers: { set: ["e.example.com/a", "e.example.com/b", "e.example.com/c"] },
    ownerReferences: {
      keyed: "uid",
      keys: ["u1", "u2"],
      fields: { apiVersion: text("v1"), kind: text("ConfigMap"), name: text("o", "p") },
    },
  },
};

const resources: Shape = {
  fields: {
    limits: { map: ["cpu", "memory"], of: text("1", "2Gi", "1500m") },
    requests: { map: ["cpu", "memory"], of: text("0.1", "100Mi") },
  },
};

const container: Readonly<Record<string, Shape>> = {
  image: text("i:1", "i:2", "registry.example.com/i@sha256:0123"),
  command: { list: text("run", "stop") },
  args: { list: text("x", "y") },
  env: { keyed: "name", keys: ["A", "B", "C"], fields: { value: text("1", "2", "") } },
  ports: {
    keyed: "containerPort",
    keys: [80, 443, 8080],
    fields: { name: text("http", "tls"), protocol: text("TCP", "UDP") },
  },
  resources,
  imagePullPolicy: text("Always", "IfNotPresent"),
  volumeMounts: { keyed: "mountPath", keys: ["/v", "/w"], fields: { name: text("v"), readOnly: text(true, false) } },
  tty: text(true, false),
  workingDir: text("/", "/tmp"),
};

const podSpec: Readonly<Record<string, Shape>> = {
  containers: { keyed: "name", keys: ["main", "side", "third"], fields: container },
  volumes: { keyed: "name", keys: ["v", "w"], fields: { emptyDir: { fields: { medium: text("Memory", "") } } } },
  nodeSelector: { map: ["disk", "zone"], of: text("ssd", "z1") },
  tolerations: {
    list: { fields: { key: text("k"), operator: text("Exists"), effect: text("NoSchedule", "NoExecute") } },
  },
  imagePullSecrets: { keyed: "name", keys: ["p", "q"], fields: {} },
  hostAliases: { keyed: "ip", keys: ["192.0.2.1", "192.0.2.2"], fields: { hostnames: { list: text("h", "g") } } },
  terminationGracePeriodSeconds: text(5, 30, 60),
  serviceAccountName: text("default"),
  hostNetwork: text(false),
  priorityClassName: text(""),
  restartPolicy: text("Always"),
};

/** The shapes of the kinds that are fuzzed, by the name of the starting object. */
export const PATCH_SHAPES: Readonly<Record<string, Shape>> = {
  configmap: {
    fields: {
      metadata,
      data: { map: ["a", "b", "c.d"], of: text("1", "2", "") },
      binaryData: { map: ["z"], of: text("AAE=", "AAI=") },
    },
  },
  secret: {
    fields: {
      metadata,
      data: { map: ["a", "b"], of: text("MQ==", "Mg==") },
      stringData: { map: ["a", "s"], of: text("x", "") },
    },
  },
  pod: {
    fields: {
      metadata,
      spec: {
        fields: {
          containers: { keyed: "name", keys: ["main", "side"], fields: { image: text("i:1", "i:2", "i:3") } },
          activeDeadlineSeconds: text(100, 90, 80),
          tolerations: podSpec.tolerations as Shape,
        },
      },
    },
  },
  service: {
    fields: {
      metadata,
      spec: {
        fields: {
          selector: labels,
          ports: {
            keyed: "port",
            keys: [80, 443, 8080],
            fields: { name: text("h", "s", "t"), protocol: text("TCP"), targetPort: text(80, "http", 9090) },
          },
          sessionAffinity: text("None", "ClientIP"),
          publishNotReadyAddresses: text(true, false),
          externalIPs: { list: text("192.0.2.7", "192.0.2.8") },
        },
      },
    },
  },
  deployment: {
    fields: {
      metadata,
      spec: {
        fields: {
          replicas: text(0, 1, 3),
          minReadySeconds: text(0, 5),
          paused: text(true, false),
          revisionHistoryLimit: text(2, 10),
          strategy: {
            fields: {
              type: text("RollingUpdate"),
              rollingUpdate: { fields: { maxSurge: text(1, "30%"), maxUnavailable: text(0, "25%") } },
            },
          },
          template: { fields: { metadata: { fields: { annotations: labels } }, spec: { fields: podSpec } } },
        },
      },
    },
  },
  statefulset: {
    fields: {
      metadata,
      spec: {
        fields: {
          replicas: text(0, 2),
          minReadySeconds: text(0, 3),
          template: { fields: { metadata: { fields: { annotations: labels } }, spec: { fields: podSpec } } },
        },
      },
    },
  },
  role: {
    fields: {
      metadata,
      rules: {
        list: {
          fields: {
            apiGroups: { list: text("", "apps") },
            resources: { list: text("pods", "deployments") },
            verbs: { list: text("get", "list") },
          },
        },
      },
    },
  },
  networkpolicy: {
    fields: {
      metadata,
      spec: {
        fields: {
          podSelector: { fields: { matchLabels: labels } },
          policyTypes: { list: text("Ingress", "Egress") },
          ingress: {
            list: { fields: { ports: { list: { fields: { port: text(80, "http"), protocol: text("TCP", "UDP") } } } } },
          },
        },
      },
    },
  },
  lease: {
    fields: {
      metadata,
      spec: {
        fields: {
          holderIdentity: text("a", "b"),
          leaseDurationSeconds: text(5, 15),
          leaseTransitions: text(0, 1, 2),
          renewTime: text("2021-03-04T05:06:07.123456Z", "2021-03-04T05:06:07Z"),
        },
      },
    },
  },
};

/** A random value of a shape. Null stands for removal where the flavour knows that. */
export function randomValue(random: Random, shape: Shape, flavour: Flavour): Json {
  if ("values" in shape) return random.pick(shape.values);
  if ("set" in shape) return [...new Set(random.some(3, () => random.pick(shape.set)))];
  // Never empty: to us an empty list and none at all are the same, and the real server tells them apart in generations.
  if ("list" in shape) return [1, ...random.some(1, () => 2)].map(() => randomValue(random, shape.list, IN_LIST));
  if ("map" in shape) return randomMap(random, shape, flavour);
  if ("keyed" in shape) return randomKeyed(random, shape, flavour);
  return randomObject(random, shape.fields, flavour);
}

/** Inside lists that are replaced as a whole nothing is removed and no directive is understood. */
const IN_LIST: Flavour = "apply";

const removes = (random: Random, flavour: Flavour): boolean => flavour !== "apply" && random.chance(0.12);

function randomMap(random: Random, { map, of }: Extract<Shape, { map: unknown }>, flavour: Flavour): Json {
  const out: JsonObject =
    flavour === "strategic" && random.chance(0.04) ? { $patch: random.pick(["replace", "delete"]) } : {};
  for (const key of new Set(random.some(3, () => random.pick(map)))) {
    out[key] = removes(random, flavour) ? null : randomValue(random, of, flavour);
  }
  return out;
}

function randomObject(random: Random, fields: Readonly<Record<string, Shape>>, flavour: Flavour): JsonObject {
  const out: JsonObject = {};
  const names = Object.keys(fields);
  if (names.length === 0) return out;
  for (const name of new Set(random.some(3, () => random.pick(names)))) {
    const shape = fields[name];
    if (!shape) continue;
    if (removes(random, flavour)) {
      out[name] = null;
      continue;
    }
    out[name] = randomValue(random, shape, flavour);
    if (flavour === "strategic") addDirectives(random, out, name, shape);
  }
  return out;
}

function addDirectives(random: Random, out: JsonObject, name: string, shape: Shape): void {
  const value = out[name];
  if (!Array.isArray(value)) return;
  if ("set" in shape) {
    // Only what the patch does not add: otherwise the real server's answer depends on chance.
    const others = shape.set.filter((one) => !value.includes(one));
    if (others.length > 0 && random.chance(0.25)) out[`$deleteFromPrimitiveList/${name}`] = [random.pick(others)];
    if (random.chance(0.25))
      out[`$setElementOrder/${name}`] = [...new Set([...value, ...random.some(2, () => random.pick(shape.set))])];
  } else if ("keyed" in shape && random.chance(0.25)) {
    const keys = value
      .filter((item) => !(item as JsonObject).$patch)
      .map((item) => (item as JsonObject)[shape.keyed] as Json);
    const order = [...new Set([...keys, ...random.some(2, () => random.pick(shape.keys))])];
    out[`$setElementOrder/${name}`] = order.map((key) => ({ [shape.keyed]: key }));
  }
}

function randomKeyed(random: Random, shape: Extract<Shape, { keyed: unknown }>, flavour: Flavour): Json {
  const keys = [...new Set(random.some(3, () => random.pick(shape.keys)))];
  return keys.map((key) => {
    if (flavour === "strategic" && random.chance(0.15)) return { [shape.keyed]: key, $patch: "delete" };
    return { [shape.keyed]: key, ...randomObject(random, shape.fields, flavour === "merge" ? "apply" : flavour) };
  });
}
